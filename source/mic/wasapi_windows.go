package mic

import (
	"context"
	"errors"
	"sync"
	"time"
	"unsafe"

	"github.com/hearken-dev/hearken"
)

// wasapi captures with the Windows Audio Session API, which can also record what
// an output plays.
type wasapi struct {
	cfg   Config
	notes *notes
}

func platform(cfg Config, n *notes) backend { return &wasapi{cfg, n} }

func (w *wasapi) check(context.Context) error {
	return withEnumerator(func(enumerator *object) error {
		return checkTracks(w.cfg, w.notes, func(track int) (string, error) {
			e, err := pickEndpoint(enumerator, track, w.cfg.deviceName(track))
			if err != nil {
				return "", err
			}
			s, err := openEndpoint(track, e)
			if err != nil {
				return "", err
			}
			defer s.close()
			return s.note(), nil
		})
	})
}

func (w *wasapi) run(ctx context.Context, d *mixer) error {
	var tracks sync.WaitGroup
	for _, track := range w.cfg.tracks() {
		tracks.Go(func() {
			for ctx.Err() == nil {
				err := withEnumerator(func(enumerator *object) error { return w.follow(ctx, enumerator, track, d) })
				d.markSilent(track)
				if err == nil {
					continue // ended, or another device
				}
				w.notes.absent(track, err)
				pause(ctx, pollInterval)
			}
		})
	}
	tracks.Wait()
	return nil
}

// follow captures a track from its current device until another one is due.
func (w *wasapi) follow(ctx context.Context, enumerator *object, track int, d *mixer) error {
	e, err := pickEndpoint(enumerator, track, w.cfg.deviceName(track))
	if err != nil {
		return err
	}
	s, err := openEndpoint(track, e)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.client.call(clientStart); err != nil {
		return endpointError(e, err)
	}
	w.notes.captured(track, s.note())
	audio, defaults := time.NewTicker(20*time.Millisecond), time.NewTicker(pollInterval)
	defer audio.Stop()
	defer defaults.Stop()
	lastAudio := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-audio.C:
			err := s.read(func(samples []int16) {
				lastAudio = time.Now()
				d.add(track, samples)
			})
			if err != nil {
				return endpointError(e, err)
			}
			if time.Since(lastAudio) > 200*time.Millisecond {
				d.markSilent(track) // an output that plays nothing is not worth waiting for
			}
		case <-defaults.C:
			now, err := pickEndpoint(enumerator, track, w.cfg.deviceName(track))
			if err != nil {
				return err
			}
			now.device.release()
			if now.id != e.id {
				return nil
			}
		}
	}
}

// An endpointStream delivers one device's audio.
type endpointStream struct {
	track   int
	from    *endpoint
	client  *object
	capture *object
	samples []int16 // of two channels
	stereo  downmixer
}

// A waveFormat is the WAVEFORMATEX structure.
type waveFormat struct {
	kind           uint16
	channels       uint16
	rate           uint32
	bytesPerSecond uint32
	frameSize      uint16
	bits           uint16
	extra          uint16
}

// Methods of IAudioClient and IAudioCaptureClient.
const (
	clientInitialize  = 3
	clientStart       = 10
	clientStop        = 11
	clientService     = 14
	captureGet        = 3
	captureRelease    = 4
	capturePacketSize = 5
)

// Flags for a stream.
const (
	loopback       = 0x00020000 // listen to what an output plays
	autoConvert    = 0x80000000 // convert to our format
	defaultQuality = 0x08000000
)

// openEndpoint opens a stream on a device, which it then owns.
func openEndpoint(track int, e *endpoint) (*endpointStream, error) {
	s := &endpointStream{track: track, from: e}
	if err := s.open(); err != nil {
		s.close()
		return nil, endpointError(e, err)
	}
	return s, nil
}

func (s *endpointStream) open() error {
	if err := s.from.device.call(deviceActivate, uintptr(unsafe.Pointer(&clientInterface)), anyContext, 0, uintptr(unsafe.Pointer(&s.client))); err != nil {
		return err
	}
	format := waveFormat{kind: 1, channels: 2, rate: hearken.SampleRate, bytesPerSecond: 4 * hearken.SampleRate, frameSize: 4, bits: 16}
	flags := uintptr(autoConvert | defaultQuality)
	if s.track == systemTrack {
		flags |= loopback
	}
	const half = 5_000_000 // a second, in units of 100 ns: what may wait for us
	var err error
	if unsafe.Sizeof(uintptr(0)) == 8 {
		err = s.client.call(clientInitialize, 0, flags, half, 0, uintptr(unsafe.Pointer(&format)), 0)
	} else { // the times take two places each
		err = s.client.call(clientInitialize, 0, flags, half, 0, 0, 0, uintptr(unsafe.Pointer(&format)), 0)
	}
	if err != nil {
		return err
	}
	return s.client.call(clientService, uintptr(unsafe.Pointer(&captureInterface)), uintptr(unsafe.Pointer(&s.capture)))
}

func (s *endpointStream) close() {
	if s.client != nil {
		_ = s.client.call(clientStop)
	}
	s.capture.release()
	s.client.release()
	s.from.device.release()
}

func (s *endpointStream) note() string {
	if s.track == systemTrack {
		return "what " + s.from.title + " plays"
	}
	return s.from.title
}

// read reads all available audio. An output that plays nothing has none.
func (s *endpointStream) read(deliver func([]int16)) error {
	for {
		var waiting uint32
		if err := s.capture.call(capturePacketSize, uintptr(unsafe.Pointer(&waiting))); err != nil || waiting == 0 {
			return err
		}
		const silent = 2
		var data *int16
		var frames, flags uint32
		if err := s.capture.call(captureGet, uintptr(unsafe.Pointer(&data)), uintptr(unsafe.Pointer(&frames)), uintptr(unsafe.Pointer(&flags)), 0, 0); err != nil {
			return err
		}
		if flags&silent != 0 || data == nil {
			s.samples = append(s.samples[:0], make([]int16, 2*frames)...)
		} else {
			s.samples = append(s.samples[:0], unsafe.Slice(data, 2*frames)...)
		}
		if err := s.capture.call(captureRelease, uintptr(frames)); err != nil {
			return err
		}
		deliver(s.stereo.mix(s.samples))
	}
}

// endpointError explains why a device gave no audio.
func endpointError(e *endpoint, err error) error {
	switch {
	case errors.Is(err, accessDenied):
		return hearken.Errorf(hearken.Forbidden, "Windows does not allow this program to use %s (%w).", e.title, err).
			WithTry("Settings > Privacy & security > Microphone: let desktop apps access it")
	case errors.Is(err, deviceInUse), errors.Is(err, exclusiveOnly):
		return hearken.Errorf(hearken.Busy, "Another program is using %s (%w).", e.title, err).
			WithTry("close the program that uses it exclusively, or choose another device")
	case errors.Is(err, serviceNotReady):
		return hearken.Errorf(hearken.NotFound, "The Windows Audio service is not running (%w).", err).
			WithTry("net start Audiosrv")
	}
	return hearken.Errorf(hearken.NotFound, "%s cannot be captured (%w).", e.title, err)
}
