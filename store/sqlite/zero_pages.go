package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
)

// zeroPages overwrites the unused bytes in the pages of some tables.
//
// SQLite overwrites what it deletes (secure_delete is on). But when it moves a
// row to a neighbouring page to balance the tree, the old copy remains in the
// unused middle of the page. So this reads all pages of these trees, which
// takes some seconds for a million segments.
func zeroPages(ctx context.Context, tx *sql.Tx, tables []string) error {
	w := pageZeroer{ctx: ctx}
	var err error
	if w.read, err = tx.PrepareContext(ctx, `SELECT data FROM sqlite_dbpage WHERE pgno = ?`); err != nil {
		return err
	}
	if w.write, err = tx.PrepareContext(ctx, `UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?`); err != nil {
		return err
	}
	for _, table := range tables {
		roots, err := rootPages(ctx, tx, table)
		if err != nil {
			return err
		}
		for _, root := range roots {
			if err := w.zeroTree(root, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// rootPages finds the root pages of a table and of its indexes.
func rootPages(ctx context.Context, tx *sql.Tx, table string) (roots []uint32, err error) {
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

type pageZeroer struct {
	ctx         context.Context
	read, write *sql.Stmt
}

// The kinds of pages of a tree in the file format.
const (
	interiorIndex = 2
	interiorTable = 5
	leafIndex     = 10
	leafTable     = 13
)

// zeroTree overwrites the unused bytes of a page and of those below it.
func (w *pageZeroer) zeroTree(number uint32, depth int) error {
	if depth > 20 {
		return errors.New("the tree has a cycle")
	}
	var page []byte
	if err := w.read.QueryRowContext(w.ctx, number).Scan(&page); err != nil {
		return fmt.Errorf("page %d: %w", number, err)
	}
	children, changed, err := zeroPage(page)
	if err != nil {
		return fmt.Errorf("page %d: %w", number, err)
	}
	if changed {
		if _, err := w.write.ExecContext(w.ctx, page, number); err != nil {
			return fmt.Errorf("page %d: %w", number, err)
		}
	}
	for _, number := range children {
		if err := w.zeroTree(number, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// zeroPage zeroes the unused bytes of one page of a tree. It returns the pages
// below it, and whether it changed a byte. The format is described at
// https://sqlite.org/fileformat.html#b_tree_pages. No table has page 1 as its
// root, so the header is at the beginning.
func zeroPage(page []byte) (children []uint32, changed bool, err error) {
	at := func(i int) int { return int(binary.BigEndian.Uint16(page[i:])) }
	header := 8
	switch page[0] {
	case interiorIndex, interiorTable:
		header = 12
		children = append(children, binary.BigEndian.Uint32(page[8:]))
	case leafIndex, leafTable:
	default:
		return nil, false, fmt.Errorf("unknown kind %d", page[0])
	}
	cells, content := at(3), at(5)
	if content == 0 {
		content = 1 << 16
	}
	used := header + 2*cells // the header and the list of cells
	if used > content || content > len(page) {
		return nil, false, errors.New("damaged")
	}
	if header == 12 {
		for i := range cells {
			cell := at(header + 2*i)
			if cell+4 > len(page) {
				return nil, false, errors.New("damaged")
			}
			children = append(children, binary.BigEndian.Uint32(page[cell:]))
		}
	}
	changed = zero(page[used:content])
	for free := at(1); free != 0; {
		next, size := at(free), at(free+2)
		if size < 4 || free+size > len(page) || next != 0 && next <= free {
			return nil, false, errors.New("damaged")
		}
		changed = zero(page[free+4:free+size]) || changed
		free = next
	}
	return children, changed, nil
}

// zero clears b and reports whether that changed a byte.
func zero(b []byte) (changed bool) {
	for i, c := range b {
		if c != 0 {
			b[i], changed = 0, true
		}
	}
	return changed
}
