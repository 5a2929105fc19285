"""One recorded execution again, alone; and what differs from what it gave before."""
