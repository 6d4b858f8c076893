/** Tells instances what a transaction changed, after its commit and outside of it. */

export interface Announcement {
  /** A channel of PostgreSQL's NOTIFY. */
  readonly channel: string;
  readonly payload: string;
}

/** The announcements of each open transaction. */
const open = new WeakMap<object, Announcement[]>();

/**
 * Announces something when the transaction commits; nothing when it is rolled back. NOTIFY itself would take one lock of the whole
 * cluster until the commit is on disk. An announcement is lost when the process dies first, so a process that waits for one must also poll.
 *
 * @param transaction the object that `Database.transaction` or `Database.rawTransaction` handed out; for any other nothing is announced
 */
export const announce = (transaction: object, announcement: Announcement): void => {
  open.get(transaction)?.push(announcement);
};

/** Collects what is announced on `transaction` into `into`. */
export const collectAnnouncements = (transaction: object, into: Announcement[]): void => {
  open.set(transaction, into);
};
