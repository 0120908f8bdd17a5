package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hearken-dev/hearken/models"
)

// peerPackages are the programs that ours is compared with. They are installed
// into the user's cache directory when they are needed, without running their
// install scripts.
var peerPackages = []string{"sherpa-onnx-node@1.13.8", "sherpa-onnx-linux-x64@1.13.8", "@huggingface/transformers@4.3.1"}

//go:embed peers/*.mjs
var peerScripts embed.FS

// A runner is a program that transcribes files, one after the other.
type runner struct {
	name string
	in   io.WriteCloser
	out  *bufio.Reader
}

type answer struct {
	Text string  `json:"text"`
	MS   float64 `json:"ms"` // from samples to text
}

// startRunner starts a program on one core and waits until its model is loaded.
// It ends with the scenario.
func startRunner(b *bench, name string, env []string, command ...string) *runner {
	if pin, err := exec.LookPath("taskset"); err == nil {
		command = append([]string{pin, "-c", "0"}, command...)
	}
	r := &runner{name: name}
	cmd := exec.CommandContext(b.ctx, command[0], command[1:]...)
	var stderr bytes.Buffer
	cmd.Env, cmd.Stderr, cmd.WaitDelay = append(os.Environ(), env...), &stderr, 5*time.Second
	var err error
	r.in, err = cmd.StdinPipe()
	b.check(err)
	out, err := cmd.StdoutPipe()
	b.check(err)
	r.out = bufio.NewReaderSize(out, 1<<20)
	b.check(cmd.Start())
	b.Cleanup(func() {
		r.in.Close() // which ends it
		_ = cmd.Wait()
	})
	if line, err := r.out.ReadString('\n'); err != nil {
		b.Fatalf("%s: %v: %s%s", name, err, line, strings.TrimSpace(stderr.String()))
	}
	return r
}

func (r *runner) transcribe(b *bench, path string) (a answer) {
	_, err := fmt.Fprintln(r.in, path)
	if err == nil {
		var line []byte
		if line, err = r.out.ReadBytes('\n'); err == nil {
			err = json.Unmarshal(line, &a)
		}
	}
	if err != nil {
		b.Fatalf("%s: %v", r.name, err)
	}
	return a
}

// installPackages fetches npm packages, unless that is done, into a directory
// of that name in the cache.
func installPackages(ctx context.Context, name string, packages []string) (modules string, err error) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", err
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cmp.Or(os.Getenv(models.EnvCache), filepath.Join(cache, "hearken")), name)
	modules = filepath.Join(dir, "node_modules")
	installed, want := filepath.Join(dir, "installed"), strings.Join(packages, "\n")
	if have, err := os.ReadFile(installed); err == nil && string(have) == want {
		return modules, nil
	}
	fmt.Fprintln(os.Stderr, "  installing", strings.Join(packages, ", "))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	args := append([]string{"install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--no-package-lock", "--loglevel=error"}, packages...)
	if out, err := exec.CommandContext(ctx, "npm", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm install: %w: %.500s", err, out)
	}
	return modules, os.WriteFile(installed, []byte(want), 0o644)
}

// startPeers starts the other programs with the same weights as they were
// published. Without them there is nothing to compare with.
func startPeers(b *bench, model string) []*runner {
	if runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" {
		b.Log("left out: the other programs, whose packages are for linux/amd64")
		return nil
	}
	modules, err := installPackages(b.ctx, "bench-peers", peerPackages)
	if err != nil {
		b.Logf("left out: the other programs: %v", err)
		return nil
	}
	dir := b.TempDir()
	b.check(errors.Join(os.MkdirAll(filepath.Join(dir, "tiny", "onnx"), 0o700), writeScripts(dir), writeForPeers(dir, model)))
	return []*runner{
		startRunner(b, "sherpa-onnx", []string{"LD_LIBRARY_PATH=" + filepath.Join(modules, "sherpa-onnx-linux-x64")},
			"node", filepath.Join(dir, "sherpa.mjs"), modules, model, filepath.Join(dir, "tokens.txt")),
		startRunner(b, "transformers.js", nil,
			"node", filepath.Join(dir, "transformers.mjs"), modules, filepath.Join(dir, "tiny"), filepath.Join(model, "tokenizer.txt")),
	}
}

func writeScripts(dir string) error {
	scripts, err := peerScripts.ReadDir("peers")
	if err != nil {
		return err
	}
	for _, s := range scripts {
		data, err := peerScripts.ReadFile("peers/" + s.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, s.Name()), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// writeForPeers writes what the two need beside the graphs: the vocabulary in
// base64 for one, a description of the model and other file names for the
// other.
func writeForPeers(dir, model string) error {
	pieces, err := os.ReadFile(filepath.Join(model, "tokenizer.txt"))
	if err != nil {
		return err
	}
	var tokens strings.Builder
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n")
	n := 0
	for line := range strings.Lines(string(pieces)) {
		piece := unescape.Replace(strings.TrimSuffix(line, "\n"))
		fmt.Fprintf(&tokens, "%s\t%d\n", base64.StdEncoding.EncodeToString([]byte(piece)), n)
		n++
	}
	for ; n < 32768; n++ { // tokens beyond the vocabulary
		fmt.Fprintf(&tokens, "%s\t%d\n", base64.StdEncoding.EncodeToString([]byte("<unused>")), n)
	}
	const config = `{"model_type": "moonshine", "architectures": ["MoonshineForConditionalGeneration"], "is_encoder_decoder": true,
"vocab_size": 32768, "hidden_size": 288, "encoder_num_hidden_layers": 6, "decoder_num_hidden_layers": 6,
"encoder_num_attention_heads": 8, "decoder_num_attention_heads": 8, "encoder_num_key_value_heads": 8, "decoder_num_key_value_heads": 8,
"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2, "decoder_start_token_id": 1, "max_position_embeddings": 512}`
	errs := []error{
		os.WriteFile(filepath.Join(dir, "tokens.txt"), []byte(tokens.String()), 0o600),
		os.WriteFile(filepath.Join(dir, "tiny", "config.json"), []byte(config), 0o600),
	}
	absolute, err := filepath.Abs(model)
	errs = append(errs, err)
	for _, graph := range []string{"encoder_model", "decoder_model_merged"} {
		errs = append(errs, os.Symlink(filepath.Join(absolute, graph+".onnx"), filepath.Join(dir, "tiny", "onnx", graph+"_quantized.onnx")))
	}
	return errors.Join(errs...)
}
