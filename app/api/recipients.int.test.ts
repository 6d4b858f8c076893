/**
 * The one check of recipients, over every route that moves money to an address or stores one to be
 * paid.
 */
import { parseUnits, type Address } from "viem";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { contracts } from "@/lib/contracts/all";
import { createApiKey, updateApiKey } from "@/lib/contracts/api-keys";
import { createContact } from "@/lib/contracts/contacts";
import { createPayoutSchedule } from "@/lib/contracts/payout-schedules";
import { createWalletsPayout } from "@/lib/contracts/payouts";
import { createQuote } from "@/lib/contracts/swap";
import { createTransfer, swapAndTransfer } from "@/lib/contracts/transfers";
import { testApi } from "@/lib/dev/testing/api";
import { newCustomer, type Customer } from "@/lib/dev/testing/journey";
import {
  ONE,
  recipientCheckTests,
  recipientWorld,
  TOKEN,
  type RecipientRow,
} from "@/lib/dev/testing/recipient-check";
import { newWithdrawer } from "@/lib/dev/testing/withdrawals";

const world = await recipientWorld();
const api = await testApi({ variables: world.variables });

let customer: Customer;
let withdrawer: Awaited<ReturnType<typeof newWithdrawer>>;
let key: Awaited<ReturnType<typeof api.createKey>>["client"];
beforeAll(async () => {
  customer = await newCustomer(api);
  await world.token.mint(customer.treasury, parseUnits("1000", 6));
  ({ client: key } = await api.createKey(customer.session, {
    otp: "exempt",
    dailyCapUsd: "1000",
  }));
  withdrawer = await newWithdrawer(api, { treasury: "50", funded: "20" });
}, 180_000);

const STOPS = { listed: true, frozen: true };
const WARNS = { listed: false, frozen: false };
const treasury = (): Address => customer.treasury;
const terms = () => ({
  fromWalletId: customer.treasuryId,
  fromChainId: ONE,
  toChainId: ONE,
  amount: "1",
});
const startsAt = new Date(Date.now() + 86_400_000).toISOString();

const ROWS: readonly RecipientRow[] = [
  {
    ...{ route: "POST /swap/quote", path: "toAddress", purpose: "pay", own: treasury },
    refuses: { listed: true, frozen: false },
    call: (toAddress) =>
      key.call(createQuote, {
        body: {
          from: [{ address: customer.treasury, chainId: ONE, token: TOKEN, amount: "1" }],
          ...{ toChainId: ONE, toToken: TOKEN, toAddress },
        },
      }),
  },
  {
    ...{ route: "POST /transfers", path: "toAddress", purpose: "pay", own: treasury },
    refuses: { listed: true, frozen: false },
    call: (toAddress) =>
      key.call(createTransfer, { body: { ...terms(), token: TOKEN, toAddress } }),
  },
  {
    ...{
      route: "POST /swap-and-transfer",
      path: "recipient",
      purpose: "pay",
      own: treasury,
      refuses: STOPS,
    },
    call: (recipient) =>
      key.call(swapAndTransfer, {
        body: { ...terms(), fromToken: TOKEN, toToken: TOKEN, recipient },
      }),
  },
  {
    ...{
      route: "POST /payouts/bulk/wallets",
      path: "transfers.0.address",
      purpose: "pay",
      own: treasury,
    },
    refuses: { listed: false, frozen: true },
    call: (address) =>
      key.call(createWalletsPayout, {
        body: {
          chainId: ONE,
          transfers: [{ address, amount: "1", token: TOKEN }],
          validateOnly: true,
        },
      }),
  },
  {
    ...{
      route: "POST /payouts/bulk/wallets",
      name: "a withdrawal",
      path: "transfers.0.address",
      purpose: "pay",
    },
    ...{ own: () => withdrawer.customer.treasury, refuses: { listed: false, frozen: null } },
    call: (address) =>
      withdrawer.key.call(createWalletsPayout, {
        body: {
          ...{ chainId: ONE, sourceAccountId: withdrawer.account, validateOnly: true },
          transfers: [{ address, amount: "1", token: "USDC" }],
        },
      }),
  },
  {
    ...{
      route: "POST /payouts/schedules",
      path: "transfers.0.address",
      purpose: "pay",
      own: treasury,
      refuses: WARNS,
    },
    call: (address) =>
      key.call(createPayoutSchedule, {
        body: { chainId: ONE, transfers: [{ address, amount: "1", token: TOKEN }], startsAt },
      }),
  },
  {
    ...{
      route: "POST /contacts",
      path: "address",
      purpose: "store",
      own: treasury,
      refuses: WARNS,
    },
    call: (address) =>
      key.call(createContact, {
        body: { name: `Someone at ${address}`, address, chainIds: [ONE] },
      }),
  },
  {
    ...{
      route: "POST /auth/api-keys",
      path: "recipients.0",
      purpose: "store",
      own: treasury,
      refuses: WARNS,
    },
    call: (address) =>
      customer.session.client.call(createApiKey, {
        body: { name: "Till", recipients: [address] },
      }),
  },
  {
    ...{
      route: "PATCH /auth/api-keys/{id}",
      path: "recipients.0",
      purpose: "store",
      own: treasury,
      refuses: WARNS,
    },
    call: async (address) => {
      const { id } = await api.createKey(customer.session);
      return customer.session.client.call(updateApiKey, {
        params: { id },
        body: { recipients: [address] },
      });
    },
  },
];

recipientCheckTests(ROWS, api, world);

/** Other routes with an address in their body, and why they are not here. */
const OTHERS: Readonly<Record<string, string>> = {
  "POST /privacy/unshield": "lib/money/privacy/recipients.int.test.ts",
  "POST /privacy/transfer": "lib/money/privacy/recipients.int.test.ts",
  "POST /auth/nonce": "The address of the person who signs in.",
  "POST /wallets/link/init": "The person's own wallet.",
  "POST /wallets/link/verify": "The person's own wallet.",
  "POST /contacts/import":
    "app/api/contacts/import-contacts.int.test.ts; chains and screening are asked before the approval.",
  "POST /dev/faucet": "Local chains only.",
  "POST /notifications/channels": "The web address of a chat.",
  "PATCH /notifications/channels/{id}": "The web address of a chat.",
  "POST /policies/evaluate":
    "It says what policies would decide, and neither pays nor stores the addresses.",
  "PUT /policies": "`recipients` is a word, not a list of addresses.",
};

const NAMES = new Set(["toAddress", "recipient", "recipients", "address"]);

/** The names of fields with addresses in a JSON schema; sources of money are left out. */
const addressesIn = (schema: unknown): string[] => {
  if (Array.isArray(schema)) return schema.flatMap(addressesIn);
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([name, inner]) => {
    if (name !== "properties") return addressesIn(inner);
    return Object.entries(inner as object).flatMap(([field, each]) => {
      if (field === "from") return [];
      return NAMES.has(field) ? [field] : addressesIn(each);
    });
  });
};

test("every route that takes a recipient is in the table", () => {
  const routes = contracts
    .filter(
      ({ body }) =>
        body !== undefined &&
        addressesIn(z.toJSONSchema(body, { io: "input", unrepresentable: "any" })).length > 0,
    )
    .map(({ method, path }) => `${method} ${path}`);
  expect([...new Set(routes)].sort()).toEqual(
    [...new Set([...ROWS.map(({ route }) => route), ...Object.keys(OTHERS)])].sort(),
  );
});
