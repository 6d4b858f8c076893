/** Where a caller's freshness token travels: the place in the database's log up to which its changes were written. */
export const FRESHNESS_HEADER = "causeway-freshness";
export const FRESHNESS_COOKIE = "causeway.freshness";
