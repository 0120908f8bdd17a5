package message

import "github.com/hearken-dev/hearken"

// refusals tells Twilio's error codes in our words. Its own texts are not
// repeated: they hold numbers and names, and are nobody's to trust.
var refusals = map[int]string{
	20003: "Twilio refuses the account or its token",
	20005: "The Twilio account is not active",
	20404: "Twilio does not know the account",
	21211: "The recipient is not a telephone number that exists",
	21212: "The sender's number is not valid",
	21408: "The Twilio account may not send to the recipient's country",
	21601: "The sender's number cannot send text messages",
	21606: "The sender's number cannot send text messages to the recipient",
	21607: "The sender's number is not the Twilio account's",
	21608: "A Twilio trial account sends only to numbers that are verified there",
	21610: "The recipient has opted out of messages from this sender",
	21612: "Twilio has no way from the sender to the recipient",
	21614: "The recipient's number is not a mobile one",
	21617: "The text is too long",
	21659: "The sender's number is not the Twilio account's",
	21660: "The sender's number is not the Twilio account's",
	21701: "Twilio does not know the messaging service",
	21703: "The messaging service has no number to send from",
	30003: "The recipient's telephone cannot be reached",
	30004: "The recipient does not accept messages from this sender",
	30005: "The recipient's number is not in use",
	30006: "The recipient's number is a landline, or its network cannot be reached",
	30007: "The network took the message for spam",
	30034: "The sender's number is not registered for messages to the United States",
}

// overload are the codes with which Twilio says that it did nothing and may do
// it later.
var overload = map[int]string{
	14107: "Twilio has had too many messages from this sender",
	20429: "Twilio has had too many requests",
	21611: "The sender's queue at Twilio is full",
	63038: "The Twilio account's messages of the day are used up",
}

// twilioRefusal is the outcome of one of Twilio's error codes.
func twilioRefusal(code int) *hearken.Outcome {
	if says, known := overload[code]; known {
		return temporary("%s (%d)", says, code)
	}
	if says, known := refusals[code]; known {
		return permanent("%s (%d)", says, code)
	}
	return permanent("Twilio refuses the message (%d)", code)
}
