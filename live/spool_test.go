package live

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hearken-dev/hearken"
)

// ramp is audio in which every sample encodes its position.
func ramp(from, n int64) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16((from + int64(i)) % 30011)
	}
	return pcm
}

// TestSpool_Model compares a spool with the audio that was written to it, over
// any mix of writes, reads, trims, flushes and restarts.
func TestSpool_Model(t *testing.T) {
	for _, disk := range []bool{true, false} {
		name := "Memory"
		if disk {
			name = "Disk"
		}
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkSpool(t, disk) })
		})
	}
}

func checkSpool(t *rapid.T, disk bool) {
	dir := ""
	if disk {
		tmp, err := os.MkdirTemp("", "spool")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(tmp)
		dir = filepath.Join(tmp, "M")
	}
	s := newSpool(dir, "", 4*hearken.SampleRate, 100*hearken.SampleRate)
	var end, start, flushed int64
	buf := make([]int16, 3*hearken.SampleRate)
	t.Repeat(map[string]func(*rapid.T){
		"append": func(t *rapid.T) {
			n := rapid.Int64Range(0, 12*hearken.SampleRate).Draw(t, "n")
			if dropped := s.append(ramp(end, n)); dropped > 0 {
				start += dropped
				flushed = max(flushed, start)
			}
			end += n
		},
		"flush": func(t *rapid.T) {
			if err := s.flush(); err != nil {
				t.Fatal(err)
			}
			flushed = end
		},
		"trim": func(t *rapid.T) {
			pos := rapid.Int64Range(start, end).Draw(t, "pos")
			s.trim(pos)
			start = pos
		},
		"fed": func(t *rapid.T) { s.fed(rapid.Int64Range(start, end).Draw(t, "pos")) },
		"read": func(t *rapid.T) {
			pos := rapid.Int64Range(0, end).Draw(t, "pos")
			n, at, err := s.read(pos, buf)
			if err != nil {
				t.Fatal(err)
			}
			if at != max(pos, start) {
				t.Fatalf("read(%d) went on at %d, want %d", pos, at, max(pos, start))
			}
			if n == 0 && at < end {
				t.Fatalf("read(%d) got nothing, but there is audio to %d", pos, end)
			}
			if !slices.Equal(ramp(at, int64(n)), buf[:n]) {
				t.Fatalf("read(%d): wrong audio", pos)
			}
		},
		"restart": func(t *rapid.T) {
			if !disk {
				t.Skip("memory does not survive")
			}
			s.disk.Lock() // as after kill -9: the file is simply gone from memory
			if s.file != nil {
				s.file.Close()
			}
			s.disk.Unlock()
			again, err := openSpool(dir, "", s.tailMax, s.limit)
			if err != nil {
				t.Fatal(err)
			}
			if again.end() < flushed && start < flushed {
				t.Fatalf("after a restart the spool ends at %d, %d was flushed", again.end(), flushed)
			}
			again.startAt(start)
			end, flushed, s = again.end(), again.end(), again
		},
		"": func(t *rapid.T) {
			if got := s.end(); got != end {
				t.Fatalf("end is %d, want %d", got, end)
			}
			if s.durableUntil() < flushed {
				t.Fatalf("safe is %d, %d was flushed", s.durableUntil(), flushed)
			}
		},
	})
}

func TestSpool_Archives(t *testing.T) {
	dir := t.TempDir()
	s := newSpool(filepath.Join(dir, "spool"), filepath.Join(dir, "archive"), 0, 1000*hearken.SampleRate)
	for range 7 {
		s.append(ramp(s.end(), 10*hearken.SampleRate))
		s.trim(s.end())
		if err := s.flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.remove(); err != nil {
		t.Fatal(err)
	}
	archived, err := openSpool(filepath.Join(dir, "archive"), "", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if archived.start != 0 || archived.end() != 70*hearken.SampleRate {
		t.Errorf("archived %d to %d, want all 70 s", archived.start, archived.end())
	}
}

func TestSpool_BadDiskFallsBackToMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "not-a-directory")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSpool(filepath.Join(file, "M"), "", 100, 1000*hearken.SampleRate)
	s.append(ramp(0, 5000))
	if err := s.flush(); err == nil {
		t.Fatal("flushing below a file succeeded")
	}
	if _, err := s.held(); err == nil {
		t.Error("the failure is not reported")
	}
	if got := s.durableUntil(); got != 5000 {
		t.Errorf("safe is %d: the sender would send again what memory holds", got)
	}
	buf := make([]int16, 5000)
	if n, _, err := s.read(0, buf); n != 5000 || err != nil {
		t.Errorf("read %d, %v", n, err)
	}
}
