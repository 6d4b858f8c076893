import type { PrivateTransfer } from "./types";

/** The name of each kind of private operation. */
export const KIND_WORDS = {
  shield: "Shield",
  private_transfer: "Transfer",
  private_swap: "Swap",
  unshield: "Unshield",
  public_exit: "Public exit",
} as const satisfies Record<PrivateTransfer["kind"], string>;

export const pathOfTransfer = ({ transferId }: Pick<PrivateTransfer, "transferId">): string => `/private/${transferId}`;
