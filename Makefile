# Everything a developer or a CI machine does here. `make` alone prints help.
# Tools are run at a fixed version and are not part of go.mod.

GOVULN     := golang.org/x/vuln/cmd/govulncheck@v1.8.0
VERSION    := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS    := -s -w -X main.version=$(VERSION)
export CGO_ENABLED ?= 0

.DEFAULT_GOAL := help
.PHONY: help run build test lint vuln bench accept torture fit cross release setup fmt clean

help: ## Print this help
	@echo "Hearken: live speech to text for people and agents, offline by default."
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## Build, fetch what is missing, and start the hub on 127.0.0.1:8080
	bin/hearken models pull
	exec bin/hearken serve

build: ## Build bin/hearken
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/hearken

test: ## Set up what the tests need and run them all; this is what CI runs
	scripts/test

lint: ## Run the linters
	scripts/lint

vuln: ## Look for known vulnerabilities in what is linked (needs a network)
	go run $(GOVULN) ./...

fmt: ## Format the Go files
	gofmt -w $$(git ls-files '*.go')

bench: build ## Measure, and write the table in docs/benchmarks.md; ONLY=name for one section
	go run ./bench -only '$(ONLY)'

accept: ## Heavy acceptance: real agents, the official SDK, a browser, a clean room
	scripts/accept

torture: export HEARKEN_BIN := $(CURDIR)/bin/hearken
torture: build ## Kill the hub, break its connections and talk for hours, and count the words
	HEARKEN_TEST_KILLS=1000 go test -count=1 -timeout 60m -v -run 'Kill|Crash' ./live ./cmd/hearken
	HEARKEN_TEST_ACT_KILLS=100 HEARKEN_TEST_RACES=200 HEARKEN_TEST_FLOOD_SECONDS=150 go test -count=1 -timeout 60m -v ./test/act
	HEARKEN_TEST_GUESS_SECONDS=20 go test -count=1 -timeout 60m -v ./test/injection
	HEARKEN_TEST_SEEDS=100 go test -count=1 -timeout 60m -run Recovery ./test/faults
	go test -tags torture -count=1 -timeout 60m -v ./test/e2e
	go test -tags torture -count=1 -timeout 60m -v -run Torture ./stt/moonshine -hours 2

fit: build ## Fit the engine's gate and confidence to the recordings of HEARKEN_SPEECH
	scripts/setup models
	. scripts/env && go test -tags fit -count=1 -timeout 60m -v -run Fit ./stt/moonshine

cross: ## Build and vet for macOS, Windows and ARM, without a C compiler
	scripts/cross all

release: ## Build the release archives into dist
	scripts/release

setup: build ## Fetch what the tests need: models, node tools, PostgreSQL as root
	scripts/setup

clean: ## Remove what was built; fetched models stay in the cache
	rm -rf bin dist tmp
