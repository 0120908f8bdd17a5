package audio

// The two codings of G.711 as tables of all their values. Telephones use them.
var mulawTable, alawTable = func() (mu, a [256]int16) {
	for i := range 256 {
		mu[i], a[i] = mulawSample(byte(i)), alawSample(byte(i))
	}
	return mu, a
}()

func mulawSample(b byte) int16 {
	b = ^b
	magnitude := (int16(b&0x0f)<<3+0x84)<<(b>>4&7) - 0x84
	if b&0x80 != 0 {
		return -magnitude
	}
	return magnitude
}

func alawSample(b byte) int16 {
	b ^= 0x55
	magnitude := int16(b&0x0f)<<4 + 8
	if exponent := b >> 4 & 7; exponent > 0 {
		magnitude = (magnitude + 0x100) << (exponent - 1)
	}
	if b&0x80 == 0 {
		return -magnitude
	}
	return magnitude
}
