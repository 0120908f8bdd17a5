package models

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A pkg is one version of an npm package.
type pkg struct {
	name    string
	version string
	size    int64 // of the tarball, for the progress bar
}

func (p pkg) spec() string { return p.name + "@" + p.version }

// A file is one that the engine opens, and its origin.
type file struct {
	path string // under the root, with slashes
	size int64
	sum  string // SHA-256 in hex

	pkg    pkg
	member string // its name inside the package, without "package/"

	// If convert is set, the file is made from the member, which has its own sum.
	convert    func([]byte) ([]byte, error)
	memberSize int64
	memberSum  string
}

func (f file) pathUnder(root string) string { return filepath.Join(root, filepath.FromSlash(f.path)) }

// A component is what users pull, list and remove by name.
type component struct {
	name     string
	title    string
	language string
	licence  string
	note     string // what users should know before using it
	optional bool   // only on request
	files    []file
}

func (c component) isMoonshine() bool { return c.language != "" }

var (
	moonshinePkg = pkg{"@usefulsensors/moonshine-js", "0.1.17", 114247787}
	vadPkg       = pkg{"@ricky0123/vad-web", "0.0.31", 5471324}
	vocabPkg     = pkg{"llama-tokenizer-js", "1.2.2", 388950}
)

// registry is what can be pulled for this platform.
func registry() []component { return registryFor(runtime.GOOS, runtime.GOARCH) }

func registryFor(goos, goarch string) []component {
	list := []component{
		{
			name: "silero-vad", title: "Silero VAD v6, voice detection", licence: "MIT",
			files: []file{{
				path: "vad/silero_vad_v6.onnx", size: 2327524,
				sum: "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3",
				pkg: vadPkg, member: "dist/silero_vad_v6.onnx",
			}},
		},
		moonshineComponent("tiny-en", "en", "dist/model/tiny/quantized",
			file{size: 7937661, sum: "c6fc4b7bc5af75c0591fd157a1f3829b533d18e9769a888fd95a62e470dd4f4a"},
			file{size: 20243286, sum: "eed87831c3a6103534aae7d47a5d485025c659a1323901513961c39fe8a1a367"}),
		moonshineComponent("base-en", "en", "dist/model/base/quantized",
			file{size: 20513063, sum: "1dd9ab0a7f987113d30affcba5a068d11c8f90fa0223caa3e491ade431ad9751"},
			file{size: 42498870, sum: "cc9f3cd6698a369c6008b41aa60aa3fb3322e7f03c9bdf19d8e6b7200afca4f3"}),
		moonshineComponent("base-es", "es", "dist/model/base-es-non-commercial/quantized",
			file{size: 20719501, sum: "636be20754df4c0661254259a07decde561018a1c97d8a4e1b8256841b440c38"},
			file{size: 43350633, sum: "eaa6338d691f7183dc45df405f8376d7be5698e9c41e567f7ac050f6a504e8ef"}),
	}
	spanish := &list[len(list)-1]
	spanish.optional = true
	spanish.licence = "Moonshine AI Community License"
	spanish.note = "not free for everyone: commercial users register, from 1M USD of yearly revenue a paid licence is needed, and products say \"Powered by Moonshine AI\""
	if rt, ok := runtimeComponent(goos, goarch); ok {
		list = slices.Insert(list, 0, rt)
	}
	return list
}

// moonshineComponent is one model of the family: two graphs and the shared vocabulary.
func moonshineComponent(name, language, dir string, encoder, decoder file) component {
	graph := func(f file, base string) file {
		f.path = "moonshine/" + name + "/" + base
		f.pkg, f.member = moonshinePkg, dir+"/"+base
		return f
	}
	return component{
		name: name, title: "Moonshine " + name + ", speech to text", language: language, licence: "MIT",
		files: []file{
			graph(encoder, "encoder_model.onnx"),
			graph(decoder, "decoder_model_merged.onnx"),
			{
				path: "moonshine/" + name + "/tokenizer.txt", size: 243074,
				sum: "29fda4378b1e18455dcbba55172b5d7bb43b9ceaf417635333239bd995f362bf",
				pkg: vocabPkg, member: "llama-tokenizer.js", convert: extractVocabulary,
				memberSize: 676487,
				memberSum:  "34a7b9f7579d40486444590c37cba6564ef40c3dd98ecdfc2f7c886ae72c898d",
			},
		},
	}
}

// runtimeComponent is the smallest ONNX Runtime for the platform that npm has: the one
// in the sherpa-onnx packages.
func runtimeComponent(goos, goarch string) (component, bool) {
	const version = "1.13.8"
	type build struct {
		name    string
		tarball int64
		size    int64
		sum     string
	}
	b, ok := map[string]build{
		"linux/amd64":   {"sherpa-onnx-linux-x64", 11089653, 27026609, "4b3607aebd1784b26b6f9b20e4bd974c7ab8287043e4d095cb7d2cb40b5e566e"},
		"linux/arm64":   {"sherpa-onnx-linux-arm64", 13910679, 34606912, "cfc800d4438f15e8d9017521326776ca7117d8783cb847ccccc2fc61ac4d540f"},
		"darwin/arm64":  {"sherpa-onnx-darwin-arm64", 10047754, 29006384, "b0613d0ae53199a83b05fa48e169211498e9d40d54beaa372068ebe5ec5b0929"},
		"darwin/amd64":  {"sherpa-onnx-darwin-x64", 11191481, 32315856, "2bf27180c09e6fd3f407c9ab25205ebf1ff95f2d53bfa35e35409b5849e0ac70"},
		"windows/amd64": {"sherpa-onnx-win-x64", 8894875, 17799168, "7f66f939a881baf4f46a2216496798edf4a1429878b646d12674aa62f27d8a25"},
	}[goos+"/"+goarch]
	if !ok {
		return component{}, false
	}
	name := libraryName(goos)
	return component{
		name: "runtime", title: "ONNX Runtime 1.28.2, runs the models", licence: "MIT",
		files: []file{{
			path: "lib/" + name, size: b.size, sum: b.sum,
			pkg: pkg{b.name, version, b.tarball}, member: name,
		}},
	}, true
}

// extractVocabulary reads the SentencePiece pieces from the tokenizer's JavaScript
// source, which holds them as one base64 string, without running it. The result
// has one piece per line; a line break in a piece is written as \n and a
// backslash as two.
func extractVocabulary(source []byte) ([]byte, error) {
	_, rest, ok := bytes.Cut(source, []byte(`llama_vocab_base64 = "`))
	if !ok {
		return nil, errors.New("no vocabulary in the tokenizer's source")
	}
	encoded, _, ok := bytes.Cut(rest, []byte{'"'})
	if !ok {
		return nil, errors.New("the vocabulary in the tokenizer's source has no end")
	}
	pieces, err := base64.StdEncoding.AppendDecode(nil, encoded)
	if err != nil {
		return nil, fmt.Errorf("decode vocabulary: %w", err)
	}
	escape := strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	var out bytes.Buffer
	for piece := range strings.SplitSeq(string(pieces), "\n") {
		out.WriteString(escape.Replace(piece))
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}
