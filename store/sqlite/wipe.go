package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
)

// wipe overwrites what is not in use in the pages of some tables.
//
// SQLite itself overwrites what is deleted (secure_delete is on), but where it
// moved a row to a neighbouring page to balance the tree, the old copy stays
// behind in the unused middle of the page. So all pages of these trees are
// looked at, which takes some seconds for a million segments.
func wipe(ctx context.Context, tx *sql.Tx, tables []string) error {
	w := wiper{ctx: ctx}
	var err error
	if w.read, err = tx.PrepareContext(ctx, `SELECT data FROM sqlite_dbpage WHERE pgno = ?`); err != nil {
		return err
	}
	defer w.read.Close()
	if w.write, err = tx.PrepareContext(ctx, `UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?`); err != nil {
		return err
	}
	defer w.write.Close()
	for _, table := range tables {
		roots, err := trees(ctx, tx, table)
		if err != nil {
			return err
		}
		for _, root := range roots {
			if err := w.tree(root, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// trees finds the first pages of a table and of its indexes.
func trees(ctx context.Context, tx *sql.Tx, table string) (roots []uint32, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT rootpage FROM sqlite_schema WHERE tbl_name = ? AND rootpage > 0`, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var root uint32
		if err := rows.Scan(&root); err != nil {
			return nil, err
		}
		roots = append(roots, root)
	}
	return roots, rows.Err()
}

type wiper struct {
	ctx         context.Context
	read, write *sql.Stmt
}

// The kinds of pages of a tree, as the file format has them.
const (
	interiorIndex = 2
	interiorTable = 5
	leafIndex     = 10
	leafTable     = 13
)

// tree wipes a page and those below it.
func (w *wiper) tree(number uint32, depth int) error {
	if depth > 20 {
		return errors.New("a tree without end")
	}
	var page []byte
	if err := w.read.QueryRowContext(w.ctx, number).Scan(&page); err != nil {
		return fmt.Errorf("page %d: %w", number, err)
	}
	below, dirty, err := clean(page)
	if err != nil {
		return fmt.Errorf("page %d: %w", number, err)
	}
	if dirty {
		if _, err := w.write.ExecContext(w.ctx, page, number); err != nil {
			return fmt.Errorf("page %d: %w", number, err)
		}
	}
	for _, number := range below {
		if err := w.tree(number, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// clean zeroes the unused bytes of one page of a tree and tells whether there
// were any others, and which pages are below it. The format is described at
// https://sqlite.org/fileformat.html#b_tree_pages. Trees of tables never begin
// on page 1, so the header is at the beginning.
func clean(page []byte) (below []uint32, dirty bool, err error) {
	at := func(i int) int { return int(binary.BigEndian.Uint16(page[i:])) }
	header := 8
	switch page[0] {
	case interiorIndex, interiorTable:
		header = 12
		below = append(below, binary.BigEndian.Uint32(page[8:]))
	case leafIndex, leafTable:
	default:
		return nil, false, fmt.Errorf("is of the kind %d", page[0])
	}
	cells, content := at(3), at(5)
	if content == 0 {
		content = 1 << 16
	}
	used := header + 2*cells // the header and the list of cells
	if used > content || content > len(page) {
		return nil, false, errors.New("is damaged")
	}
	if header == 12 {
		for i := range cells {
			cell := at(header + 2*i)
			if cell+4 > len(page) {
				return nil, false, errors.New("is damaged")
			}
			below = append(below, binary.BigEndian.Uint32(page[cell:]))
		}
	}
	dirty = zero(page[used:content])
	for free := at(1); free != 0; {
		next, size := at(free), at(free+2)
		if size < 4 || free+size > len(page) || next != 0 && next <= free {
			return nil, false, errors.New("is damaged")
		}
		dirty = zero(page[free+4:free+size]) || dirty
		free = next
	}
	return below, dirty, nil
}

// zero clears b and reports whether there was something in it.
func zero(b []byte) (dirty bool) {
	for i, c := range b {
		if c != 0 {
			b[i], dirty = 0, true
		}
	}
	return dirty
}
