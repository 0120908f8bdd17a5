// Package calendar puts appointments and reminders into the hub's own calendar,
// or into one on the owner's CalDAV server.
//
// The built-in calendar needs no account. Its [Builtin] connector has nothing
// to do, because the stored action is the appointment. [Feed] serves all of
// them as one iCalendar file at a secret URL, which phones and desktops
// subscribe to.
//
//	feed, err := calendar.NewFeed(calendar.FeedConfig{Dir: dataDir, Actions: store})
//	mux.Handle(calendar.FeedPattern, feed)
//
// [CalDAV] writes to a server. File names and UIDs come from the action's id,
// and a write never replaces anything. So an action that is repeated after a
// crash finds the first entry and has no second effect.
//
// A single time is written in UTC, which is right everywhere. A recurring one is
// written on the wall clock of its zone, together with the zone's rules: in UTC
// it would be off by an hour after the next change of daylight saving.
package calendar
