package mic

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hearken-dev/hearken"
)

// loopbacks are parts of the names of devices that give what the computer
// plays. Neither macOS nor Windows gives it to ffmpeg otherwise.
var loopbacks = []string{
	"blackhole", "loopback", "soundflower", "background music",
	"stereo mix", "wave out mix", "what u hear", "cable output", "virtual-audio-capturer", "voicemeeter",
}

func isLoopback(title string) bool {
	return slices.ContainsFunc(loopbacks, func(l string) bool {
		return strings.Contains(strings.ToLower(title), l)
	})
}

// listArgs make ffmpeg print the devices, as a complaint.
func listArgs(goos string) []string {
	if goos == "windows" {
		return []string{"-nostdin", "-hide_banner", "-f", "dshow", "-list_devices", "true", "-i", "dummy"}
	}
	return []string{"-nostdin", "-hide_banner", "-f", "avfoundation", "-list_devices", "true", "-i", ""}
}

// captureArgs make ffmpeg send the sound of a device as the hub wants it. A
// name cannot be taken for an option, because something stands in front of it.
func captureArgs(goos, name string) []string {
	args := []string{"-nostdin", "-hide_banner", "-loglevel", "error", "-fflags", "nobuffer"}
	if goos == "windows" {
		args = append(args, "-f", "dshow", "-audio_buffer_size", "20", "-i", "audio="+name)
	} else {
		args = append(args, "-f", "avfoundation", "-i", ":"+name)
	}
	return append(args, "-map", "0:a:0", "-ac", "1", "-ar", "16000", "-c:a", "pcm_s16le", "-flush_packets", "1", "-f", "s16le", "pipe:1")
}

var (
	// [AVFoundation indev @ 0x7f8] [1] BlackHole 2ch
	avfoundationLine = regexp.MustCompile(`^\[AVFoundation[^\]]*\] \[\d+\] (.+)$`)
	// [dshow @ 000001] "Microphone (Realtek Audio)" (audio)
	dshowLine = regexp.MustCompile(`^\[dshow[^\]]*\]\s+"(.+)"(?: \((\w[\w, ]*)\))?$`)
)

// parseDevices reads what ffmpeg printed for listArgs. Devices that are like a
// loopback are for what the computer plays, the others are microphones; the
// first of each is the default.
func parseDevices(goos, printed string) []Device {
	var all []Device
	sound := false // below the heading of the audio devices
	for line := range strings.Lines(printed) {
		line = strings.TrimRight(line, "\r\n ")
		switch {
		case strings.HasSuffix(line, " audio devices:"), strings.HasSuffix(line, "DirectShow audio devices"):
			sound = true
			continue
		case strings.HasSuffix(line, " video devices:"), strings.Contains(line, "DirectShow video devices"):
			sound = false
			continue
		}
		name := ""
		if goos == "windows" {
			// Newer versions say behind each name what it is.
			if m := dshowLine.FindStringSubmatch(line); m != nil && (strings.Contains(m[2], "audio") || m[2] == "" && sound) {
				name = m[1]
			}
		} else if m := avfoundationLine.FindStringSubmatch(line); m != nil && sound {
			name = m[1]
		}
		if name == "" || strings.HasPrefix(name, "@device_") {
			continue
		}
		d := Device{Name: name, Title: name, Origin: hearken.Microphone}
		if isLoopback(name) {
			d.Origin = hearken.System
		}
		d.Default = !slices.ContainsFunc(all, func(o Device) bool { return o.Origin == d.Origin })
		if d.Default && d.Origin == hearken.Microphone && goos == "darwin" {
			// Here ffmpeg knows which one the user has chosen.
			d.Default = false
			all = append(all, Device{Name: "default", Title: "the default input", Origin: hearken.Microphone, Default: true})
		}
		all = append(all, d)
	}
	return all
}
