package hearken

import (
	"bytes"
	"regexp"
	"testing"
	"time"
)

func TestNewKey(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.FixedZone("", 3600))
	toolsets := []string{"read"}
	key, secret := NewKey("laptop", now, toolsets)

	if want := regexp.MustCompile(`^hk_[a-z2-7]{52}$`); !want.MatchString(secret) {
		t.Errorf("secret has the wrong form: %d bytes", len(secret))
	}
	if want := regexp.MustCompile(`^key_[a-z2-7]{16}$`); !want.MatchString(key.ID) {
		t.Errorf("id = %q", key.ID)
	}
	if !bytes.Equal(key.Hash, HashSecret(secret)) {
		t.Error("the hash is not that of the secret")
	}
	if key.Name != "laptop" || !key.CreatedAt.Equal(now) || key.CreatedAt.Location() != time.UTC || key.RevokedAt != nil {
		t.Errorf("key = %+v", key)
	}
	toolsets[0] = "all"
	if key.Toolsets[0] != "read" {
		t.Error("the key shares its toolsets with the caller")
	}

	other, secret2 := NewKey("laptop", now, nil)
	if other.ID == key.ID || secret2 == secret {
		t.Error("two keys are the same")
	}
}
