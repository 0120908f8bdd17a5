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

// The programs that ours is held against, by package name; they are installed
// when they are needed, into the user's cache directory, and none of their
// install scripts is run.
var peerPackages = []string{"sherpa-onnx-node@1.13.8", "sherpa-onnx-linux-x64@1.13.8", "@huggingface/transformers@4.3.1"}

//go:embed peers/*.mjs
var peerScripts embed.FS

// A runner is a program that turns recordings into text, one after the other.
type runner struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

type answer struct {
	Text string  `json:"text"`
	MS   float64 `json:"ms"` // from samples to text
}

// startRunner starts a program on one core and waits until its model is loaded.
func startRunner(ctx context.Context, name string, env []string, command ...string) (*runner, error) {
	if pin, err := exec.LookPath("taskset"); err == nil {
		command = append([]string{pin, "-c", "0"}, command...)
	}
	r := &runner{name: name, cmd: exec.CommandContext(ctx, command[0], command[1:]...)}
	r.cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	r.cmd.Stderr = &stderr
	r.cmd.WaitDelay = 5 * time.Second
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.out = bufio.NewReaderSize(out, 1<<20)
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	if line, err := r.out.ReadString('\n'); err != nil {
		r.stop()
		return nil, fmt.Errorf("%s: %w: %s%s", name, err, line, strings.TrimSpace(stderr.String()))
	}
	return r, nil
}

func (r *runner) transcribe(path string) (a answer, err error) {
	if _, err := fmt.Fprintln(r.in, path); err != nil {
		return a, fmt.Errorf("%s: %w", r.name, err)
	}
	line, err := r.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err != nil {
		return a, fmt.Errorf("%s: %w", r.name, err)
	}
	return a, nil
}

// stop ends the program by the end of its input.
func (r *runner) stop() {
	r.in.Close()
	_ = r.cmd.Wait() // what it was to tell is told
}

// installPeers fetches the packages unless they are there, into a directory of
// that name in the cache.
func installPeers(ctx context.Context, name string, packages []string) (modules string, err error) {
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
	mark, want := filepath.Join(dir, "installed"), strings.Join(packages, "\n")
	if have, err := os.ReadFile(mark); err == nil && string(have) == want {
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
	return modules, os.WriteFile(mark, []byte(want), 0o644)
}

// startPeers starts the programs that ours is held against, with the same
// weights as they were published.
func (b *bench) startPeers(ctx context.Context, model string) (peers []*runner, err error) {
	if runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" {
		return nil, errors.New("the packages are for linux/amd64")
	}
	modules, err := installPeers(ctx, "bench-peers", peerPackages)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(b.dir, "peers")
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "tiny", "onnx"), 0o700), writeScripts(dir), writeForPeers(dir, model)); err != nil {
		return nil, err
	}
	sherpa, err := startRunner(ctx, "sherpa-onnx",
		[]string{"LD_LIBRARY_PATH=" + filepath.Join(modules, "sherpa-onnx-linux-x64")},
		"node", filepath.Join(dir, "sherpa.mjs"), modules, model, filepath.Join(dir, "tokens.txt"))
	if err != nil {
		return nil, err
	}
	transformers, err := startRunner(ctx, "transformers.js", nil,
		"node", filepath.Join(dir, "transformers.mjs"), modules, filepath.Join(dir, "tiny"), filepath.Join(model, "tokenizer.txt"))
	if err != nil {
		sherpa.stop()
		return nil, err
	}
	return []*runner{sherpa, transformers}, nil
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

// writeForPeers writes what the two want beside the graphs: pieces in base64
// for one, a description of the model and names of its own for the other.
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
	for ; n < 32768; n++ { // what the model could say beyond its vocabulary
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
