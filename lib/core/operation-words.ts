/** The words by which people know the kinds of operations, on every screen and in titles of tasks. */
export const OPERATION_WORDS = {
  swap: "Swap",
  transfer: "Transfer",
  swap_and_transfer: "Swap and transfer",
  shield: "Shield",
  unshield: "Unshield",
  private_transfer: "Private transfer",
  private_swap: "Private swap",
  public_exit: "Public exit",
  deposit: "Deposit",
} as const;
