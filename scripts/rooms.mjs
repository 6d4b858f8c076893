/**
 * The top-level parts of lib ("rooms"), the lowest first: each imports only from itself and from
 * those before it. dependency-cruiser, oxlint and the tests of the code's shape read this list.
 */
export const ROOMS = ["platform", "chain", "news", "trust", "books", "money"];
