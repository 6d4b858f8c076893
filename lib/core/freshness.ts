/** The header and the cookie that carry a caller's freshness token: the place in the write-ahead log up to which its changes were written. */
export const FRESHNESS_HEADER = "causeway-freshness";
export const FRESHNESS_COOKIE = "causeway.freshness";
