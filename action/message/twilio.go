package message

import "github.com/hearken-dev/hearken"

// refusals explains Twilio's error codes. Its own texts are not repeated: they
// contain numbers and names, and are not to be trusted.
var refusals = map[int]string{
	20003: "Twilio refuses the account or its token",
	20005: "The Twilio account is not active",
	20404: "Twilio does not know the account",
	21211: "The recipient is not an existing phone number",
	21212: "The sender's number is not valid",
	21408: "The Twilio account may not send to the recipient's country",
	21601: "The sender's number cannot send text messages",
	21606: "The sender's number cannot send text messages to the recipient",
	21607: "The sender's number is not the Twilio account's",
	21608: "A Twilio trial account sends only to numbers that are verified there",
	21610: "The recipient has opted out of messages from this sender",
	21612: "Twilio has no route from the sender to the recipient",
	21614: "The recipient's number is not a mobile number",
	21617: "The text is too long",
	21659: "The sender's number is not the Twilio account's",
	21660: "The sender's number is not the Twilio account's",
	21701: "Twilio does not know the messaging service",
	21703: "The messaging service has no number to send from",
	30003: "The recipient's phone cannot be reached",
	30004: "The recipient does not accept messages from this sender",
	30005: "The recipient's number is not in use",
	30006: "The recipient's number is a landline, or its network cannot be reached",
	30007: "The network filtered the message as spam",
	30034: "The sender's number is not registered for messages to the United States",
}

// overload are the codes for requests that Twilio did not carry out and that
// may be repeated later.
var overload = map[int]string{
	14107: "Twilio got too many messages from this sender",
	20429: "Twilio got too many requests",
	21611: "The sender's queue at Twilio is full",
	63038: "The Twilio account has reached its daily limit of messages",
}

// twilioRefusal is the outcome of one of Twilio's error codes.
func twilioRefusal(code int) *hearken.Outcome {
	if text, known := overload[code]; known {
		return temporary("%s (%d)", text, code)
	}
	if text, known := refusals[code]; known {
		return permanent("%s (%d)", text, code)
	}
	return permanent("Twilio refuses the message (%d)", code)
}
