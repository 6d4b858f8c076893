import type { TransferCommand } from "@/lib/books/ledger/commands";
import type { LedgerService } from "@/lib/books/ledger/service";
import type { Outcome } from "@/lib/books/ledger/snapshot";

export interface LoadOptions {
  readonly projectId: string;
  /** Prefix of every idempotency key. */
  readonly name: string;
  readonly accounts: readonly string[];
  readonly inFlight: number;
  /** A random integer from 0 to `below` - 1. */
  random(below: number): number;
  answered(key: string, outcome: Outcome): void;
  isOver(): boolean;
}

const AMOUNT_MAX = 100;
const OVERDRAFT_BASE = 10n ** 15n;

/**
 * Posts transfers between the accounts until `isOver` returns true; one in ten is an overdraft.
 * @returns the number of posted transfers
 */
export const postLoad = async (
  ledger: LedgerService,
  options: LoadOptions,
): Promise<number> => {
  const { projectId, name, accounts, inFlight, random, answered, isOver } = options;
  let count = 0;
  const pick = (): string => accounts[random(accounts.length)] ?? "";
  const client = async (): Promise<void> => {
    while (!isOver()) {
      const key = `${name}/${String((count += 1))}`;
      const amountBase = random(10) === 0 ? OVERDRAFT_BASE : BigInt(1 + random(AMOUNT_MAX));
      const transfer: TransferCommand = {
        kind: "transfer",
        projectId,
        key,
        by: name,
        from: pick(),
        to: pick(),
        amountBase,
        currency: "usdc",
      };
      answered(key, await ledger.post(transfer));
    }
  };
  await Promise.all(Array.from({ length: inFlight }, client));
  return count;
};
