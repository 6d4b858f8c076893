import { expect, test } from "vitest";
import { openingWallet } from "./use-chosen-wallet";
import type { PoolBalance } from "./parts";

const wallet = (id: string, createdAt: string) => ({
  id,
  name: id,
  createdAt,
  exportedAt: null,
});
const wallets = [
  wallet("pw_new", "2026-03-01"),
  wallet("pw_old", "2026-01-01"),
  wallet("pw_mid", "2026-02-01"),
];

const pool = (privacyWalletId: string, amounts: Partial<PoolBalance> = {}): PoolBalance =>
  ({
    privacyWalletId,
    spendable: "0",
    pendingApproval: "0",
    inProof: "0",
    declined: "0",
    ...amounts,
  }) as PoolBalance;

const opened = (known: Partial<Parameters<typeof openingWallet>[1]>): string | undefined =>
  openingWallet(wallets, { balances: [], lastUsed: undefined, ...known })?.id;

test("the wallet that was used last comes first, even where another one holds money", () => {
  const balances = [pool("pw_new", { spendable: "5" })];
  expect(opened({ lastUsed: "pw_mid", balances })).toBe("pw_mid");
  expect(opened({ lastUsed: "pw_of_another_project", balances })).toBe("pw_new");
});

test("without any use the oldest wallet with money comes first, and money that waits is money", () => {
  const balances = [
    pool("pw_old"),
    pool("pw_new", { spendable: "5" }),
    pool("pw_mid", { pendingApproval: "1" }),
  ];
  expect(opened({ balances })).toBe("pw_mid");
});

test("without use or money it is the oldest, and none where the project has none", () => {
  expect(opened({ balances: [pool("pw_new")] })).toBe("pw_old");
  expect(openingWallet([], { balances: [], lastUsed: undefined })).toBeUndefined();
});
