import type { PrivateTransfer } from "./types";

/** What each kind is called, and in which direction its money goes. */
export const KIND_WORDS = {
  shield: "Shield",
  private_transfer: "Transfer",
  private_swap: "Swap",
  unshield: "Unshield",
  public_exit: "Public exit",
} as const satisfies Record<PrivateTransfer["kind"], string>;

export const pathOfTransfer = ({ transferId }: Pick<PrivateTransfer, "transferId">): string => `/private/${transferId}`;
