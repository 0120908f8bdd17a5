// Package calendar puts appointments and reminders where people look for them:
// in a calendar that the hub itself offers, or on the owner's CalDAV server.
//
// The built-in calendar needs no account. Its [Builtin] connector has nothing
// to do, because the stored action is the appointment; [Feed] serves what was
// done as one iCalendar file at a secret address that phones and desktops
// subscribe to.
//
//	feed, err := calendar.NewFeed(calendar.FeedConfig{Dir: dataDir, Actions: store})
//	mux.Handle(calendar.FeedPattern, feed)
//
// [CalDAV] writes to a server. Names and UIDs come from the action's id and a
// write never replaces what is there, so doing an action again after a crash
// finds the first one and has no second effect.
//
// A time that happens once is written in UTC, which is right everywhere. One
// that repeats is written on the wall clock of its zone, with that zone's rules
// beside it: the same clock time in UTC would be off by an hour after the next
// change of daylight saving.
package calendar
