package listen

import (
	"net/http"

	"github.com/hearken-dev/hearken"
)

// UnknownRoutes are patterns of Deepgram's API that the hub does not serve, for
// [Unknown]. Deepgram and OpenAI both have /v1/models.
var UnknownRoutes = []string{
	"/v1/listen/", "/v1/speak", "/v1/read", "/v1/auth/", "/v1/projects", "/v1/projects/", "/v1/agent/", "/v2/",
}

// Unknown answers requests for the [UnknownRoutes]. One of them has a substitute:
// Flux, /v2/listen, reports how sure it is that a speaker has finished, and no
// engine here can say that. An invented number would mislead the programs that
// decide by it.
func Unknown(w http.ResponseWriter, r *http.Request) {
	err := hearken.Errorf(hearken.NotFound, "There is nothing at %.200s.", r.URL.Path).WithTry("/v1/listen")
	if r.URL.Path == "/v2/listen" {
		err = hearken.Errorf(hearken.NotFound, "This hub does not serve Flux (/v2/listen): its engines cannot say how likely a turn has ended.").
			WithTry("/v1/listen?model=nova-3&interim_results=true, where speech_final and UtteranceEnd mark the end of an utterance")
	}
	Refuse(w, http.StatusNotFound, err)
}
