/** Operations that are visible only to callers who may read private operations. */
export const PRIVATE_KINDS = ["shield", "unshield", "private_transfer", "private_swap", "public_exit"] as const;

export const isPrivateKind = (kind: string): boolean => (PRIVATE_KINDS as readonly string[]).includes(kind);
