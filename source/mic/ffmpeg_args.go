package mic

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// loopbacks are parts of the names of loopback devices, the only way for ffmpeg to
// capture what a Mac plays.
var loopbacks = []string{"blackhole", "loopback", "soundflower", "background music", "vb-cable"}

func isLoopback(title string) bool {
	return slices.ContainsFunc(loopbacks, func(l string) bool {
		return strings.Contains(strings.ToLower(title), l)
	})
}

// listArgs make ffmpeg list the devices in its error output.
func listArgs() []string {
	return []string{"-f", "avfoundation", "-list_devices", "true", "-i", ""}
}

// captureArgs make ffmpeg write a device's audio in the hub's format. A device
// name cannot be read as an option: avfoundation wants VIDEO:AUDIO, so it starts
// with a colon.
func captureArgs(name string) []string {
	return []string{"-loglevel", "error", "-fflags", "nobuffer",
		"-f", "avfoundation", "-i", ":" + name,
		"-map", "0:a:0", "-ac", "1", "-ar", "16000", "-c:a", "pcm_s16le", "-flush_packets", "1", "-f", "s16le", "pipe:1"}
}

// deviceLine matches a line such as: [AVFoundation indev @ 0x7f8] [1] BlackHole 2ch
var deviceLine = regexp.MustCompile(`^\[AVFoundation[^\]]*\] \[\d+\] (.+)$`)

// parseDevices parses ffmpeg's output for listArgs. Loopback devices capture what
// the computer plays; the others are microphones. ffmpeg itself knows the user's
// default microphone.
func parseDevices(printed string) []device {
	var all []device
	sound := false // below the heading of the audio devices
	usual := map[hearken.Origin]bool{}
	for line := range strings.Lines(printed) {
		line = strings.TrimRight(line, "\r\n ")
		switch {
		case strings.HasSuffix(line, " audio devices:"):
			sound = true
		case strings.HasSuffix(line, " video devices:"):
			sound = false
		}
		m := deviceLine.FindStringSubmatch(line)
		if m == nil || !sound {
			continue
		}
		d := device{Name: m[1], Title: m[1], Origin: hearken.Microphone}
		switch {
		case isLoopback(d.Title):
			d.Origin = hearken.System
			d.Default = !usual[d.Origin]
		case !usual[d.Origin]:
			all = append(all, device{Name: "default", Title: "the default input", Origin: d.Origin, Default: true})
		}
		usual[d.Origin] = true
		all = append(all, d)
	}
	return all
}
