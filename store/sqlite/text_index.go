package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"github.com/hearken-dev/hearken"
)

// A textIndex changes the full-text index within a transaction. FTS5 must be
// given the same terms to remove a segment as it was given to add it.
type textIndex struct {
	tx         *sql.Tx
	findTerm   *sql.Stmt
	insertTerm *sql.Stmt
	insert     *sql.Stmt
	delete     *sql.Stmt
	numbers    map[string]int64 // of the terms seen in this transaction
}

// newTextIndex prepares the statements, which end with the transaction.
func newTextIndex(ctx context.Context, tx *sql.Tx) (_ *textIndex, err error) {
	x := &textIndex{tx: tx, numbers: map[string]int64{}}
	for _, p := range []struct {
		stmt  **sql.Stmt
		query string
	}{
		{&x.findTerm, `SELECT id FROM term WHERE term = ?`},
		{&x.insertTerm, `INSERT INTO term (term) VALUES (?) RETURNING id`},
		{&x.insert, `INSERT INTO spoken (rowid, terms) VALUES (?, ?)`},
		{&x.delete, `INSERT INTO spoken (spoken, rowid, terms) VALUES ('delete', ?, ?)`},
	} {
		if *p.stmt, err = tx.PrepareContext(ctx, p.query); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// update runs one of the statements insert and delete for a segment, if it is
// speech.
func (x *textIndex) update(ctx context.Context, stmt *sql.Stmt, key int64, g *hearken.Segment) error {
	if !g.Spoken() {
		return nil
	}
	terms := hearken.Terms(g.Text)
	if len(terms) == 0 {
		return nil
	}
	var list []byte
	for _, term := range terms {
		n, err := x.termNumber(ctx, term)
		if err != nil {
			return err
		}
		list = append(strconv.AppendInt(list, n, 10), ' ')
	}
	_, err := stmt.ExecContext(ctx, key, string(list))
	return err
}

// termNumber returns the number of a term, and gives it one if it has none.
func (x *textIndex) termNumber(ctx context.Context, term string) (n int64, err error) {
	if n, ok := x.numbers[term]; ok {
		return n, nil
	}
	err = x.findTerm.QueryRowContext(ctx, term).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		err = x.insertTerm.QueryRowContext(ctx, term).Scan(&n)
	}
	if err != nil {
		return 0, err
	}
	x.numbers[strings.Clone(term)] = n
	return n, nil
}

// pruneTerms deletes the terms seen in this transaction that no segment has any
// more.
func (x *textIndex) pruneTerms(ctx context.Context) error {
	for _, n := range x.numbers {
		_, err := x.tx.ExecContext(ctx, `DELETE FROM term WHERE id = ?1
			AND NOT EXISTS (SELECT 1 FROM spoken WHERE spoken MATCH '"' || ?1 || '"')`, n)
		if err != nil {
			return err
		}
	}
	return nil
}
