package moonshine

import (
	"context"

	"github.com/hearken-dev/hearken"
)

// TranscribeAll transcribes a whole recording with all cores and returns its
// segments. It works like a live stream, except that nobody waits for the
// words: segments are as long as the models can take, which is more accurate,
// and each is decoded on its own, so that every core has one. Live streams go
// first. If progress is not nil, it gets the share that is done.
func (p *Provider) TranscribeAll(ctx context.Context, pcm []int16, cfg hearken.StreamConfig, progress func(done float64)) ([]hearken.Segment, error) {
	v, err := p.wait(ctx, p.modelSet(cfg.Language, cfg.Model))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // releases the stream in any case
	cfg.Interim = false
	s, err := p.open(ctx, cfg, v, recordedMode)
	if err != nil {
		return nil, err
	}
	go func() {
		// A failure to write is also an event.
		if s.Write(hearken.Frame{Pos: cfg.Start, PCM: pcm}) == nil {
			_ = s.Close()
		}
	}()
	var segments []hearken.Segment
	for e := range s.Events() {
		switch e.Kind {
		case hearken.Failed:
			return nil, e.Err
		case hearken.Final:
			segments = append(segments, e.Segment)
		}
		if progress != nil && len(pcm) > 0 && (e.Kind == hearken.Final || e.Kind == hearken.Progress) {
			progress(float64(e.FinalUntil-cfg.Start) / float64(len(pcm)))
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return segments, nil
}
