package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"github.com/hearken-dev/hearken"
)

// index writes the full-text index within a transaction. What it holds of a
// segment must come out the same when it is removed as when it was added.
type index struct {
	tx      *sql.Tx
	find    *sql.Stmt
	make    *sql.Stmt
	put     *sql.Stmt
	take    *sql.Stmt
	numbers map[string]int64 // of the terms seen in this transaction
}

func newIndex(ctx context.Context, tx *sql.Tx) (_ *index, err error) {
	x := &index{tx: tx, numbers: map[string]int64{}}
	defer func() {
		if err != nil {
			x.close()
		}
	}()
	for _, p := range []struct {
		stmt  **sql.Stmt
		query string
	}{
		{&x.find, `SELECT id FROM term WHERE term = ?`},
		{&x.make, `INSERT INTO term (term) VALUES (?)`},
		{&x.put, `INSERT INTO spoken (rowid, terms) VALUES (?, ?)`},
		{&x.take, `INSERT INTO spoken (spoken, rowid, terms) VALUES ('delete', ?, ?)`},
	} {
		if *p.stmt, err = tx.PrepareContext(ctx, p.query); err != nil {
			return nil, err
		}
	}
	return x, nil
}

func (x *index) close() {
	for _, stmt := range []*sql.Stmt{x.find, x.make, x.put, x.take} {
		if stmt != nil {
			stmt.Close()
		}
	}
}

// add puts a segment into the index, if it is speech.
func (x *index) add(ctx context.Context, key int64, g *hearken.Segment) error {
	return x.change(ctx, x.put, key, g)
}

// remove takes out a segment that was added.
func (x *index) remove(ctx context.Context, key int64, g *hearken.Segment) error {
	return x.change(ctx, x.take, key, g)
}

func (x *index) change(ctx context.Context, stmt *sql.Stmt, key int64, g *hearken.Segment) error {
	if !g.Spoken() {
		return nil
	}
	terms := hearken.Terms(g.Text)
	if len(terms) == 0 {
		return nil
	}
	var list []byte
	for _, term := range terms {
		n, err := x.number(ctx, term)
		if err != nil {
			return err
		}
		list = append(strconv.AppendInt(list, n, 10), ' ')
	}
	_, err := stmt.ExecContext(ctx, key, string(list))
	return err
}

// number finds the number of a term, which gets one if it has none.
func (x *index) number(ctx context.Context, term string) (n int64, err error) {
	if n, ok := x.numbers[term]; ok {
		return n, nil
	}
	err = x.find.QueryRowContext(ctx, term).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		done, err := x.make.ExecContext(ctx, term)
		if err != nil {
			return 0, err
		}
		if n, err = done.LastInsertId(); err != nil {
			return 0, err
		}
	} else if err != nil {
		return 0, err
	}
	x.numbers[strings.Clone(term)] = n
	return n, nil
}

// prune deletes the terms seen in this transaction that nobody uses any more.
func (x *index) prune(ctx context.Context) error {
	for _, n := range x.numbers {
		_, err := x.tx.ExecContext(ctx, `DELETE FROM term WHERE id = ?1
			AND NOT EXISTS (SELECT 1 FROM spoken WHERE spoken MATCH '"' || ?1 || '"')`, n)
		if err != nil {
			return err
		}
	}
	return nil
}
