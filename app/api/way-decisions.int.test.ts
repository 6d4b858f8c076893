/**
 * Every decision about money or an address that is there already, under every rule and the
 * project's setting, for every caller.
 */
import { beforeAll, expect, test } from "vitest";
import { approveContact, createContact } from "@/lib/contracts/contacts";
import { releaseDeposit } from "@/lib/contracts/deposits";
import { decideRefund } from "@/lib/contracts/operations";
import { decidePayoutDoubt } from "@/lib/contracts/payout-doubts";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { testApi } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { quarantinedDeposit } from "@/lib/dev/testing/deposits";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { doubtUnseen } from "@/lib/dev/testing/payout-doubts";
import { rowsOf, seedPayout } from "@/lib/dev/testing/wallet-payouts";
import {
  callersOf,
  wrongDecisions,
  type Callers,
  type Decisions,
} from "@/lib/dev/testing/way-guard";
import type { Caller } from "@/lib/dev/testing/ways";

const CHAIN = 31337;
/** Nothing is carried out: what was decided stays as it was stored. */
const api = await testApi();
const { services } = api;
const { prisma } = services.database;

let customer: Customer;
let callers: Callers;
const client = (caller: Caller) => callers.clients[caller];
let block = 0n;
const nextBlock = (): bigint => (block += 1n);
/** The owner signs what is asked for; nobody else has a wallet that could. */
const approving = <T>(
  send: (approval?: { approvalId: string; signature: `0x${string}` }) => Promise<T>,
) => withApproval(callers.owner.account, send);

const decisions: Decisions = {
  quarantineRelease: async (caller) => {
    const id = await quarantinedDeposit(services, customer, nextBlock());
    return {
      decide: () =>
        approving((approval) => {
          const body = {
            reason: "Checked with the customer",
            ...(approval ? { approval } : {}),
          };
          return client(caller).call(releaseDeposit, { params: { id }, body });
        }),
      isDecided: async () =>
        (await prisma.deposit.findFirstOrThrow({ where: { id } })).state === "released",
    };
  },
  doubtDecision: async (caller) => {
    const batches = [{ token: "USDC", rows: rowsOf(`doubt of ${caller}`, 1) }];
    const { id } = await seedPayout(services, customer, { chainId: CHAIN, batches });
    await doubtUnseen(services, id);
    return {
      decide: () =>
        approving((approval) => {
          const body = {
            batch: 0,
            decision: "not_paid" as const,
            reason: "Explorer",
            ...(approval ? { approval } : {}),
          };
          return client(caller).call(decidePayoutDoubt, { params: { id }, body });
        }),
      isDecided: async () =>
        (await prisma.auditEvent.count({
          where: { subject: id, action: "payout.doubt_decided" },
        })) === 1,
    };
  },
  refundDecision: async (caller) => {
    const at = { fromWalletId: customer.treasuryId, fromChainId: CHAIN, toChainId: CHAIN };
    const body = {
      ...at,
      fromToken: "USDC",
      toToken: "USDC",
      amount: "2",
      recipient: testAccount().address,
    };
    const { operationId: id } = await client("exempt key").call(swapAndTransfer, { body });
    const { id: legId } = await prisma.operationLeg.findFirstOrThrow({
      where: { operationId: id },
    });
    await prisma.operationLeg.update({
      where: { id: legId },
      data: { state: "needs_attention" },
    });
    await prisma.operation.update({
      where: { id },
      data: { status: "processing", subStatus: "needs_attention" },
    });
    return {
      decide: () =>
        client(caller).call(decideRefund, {
          params: { id, legId },
          body: { decision: "not_refunded_keep_waiting" },
        }),
      isDecided: async () =>
        (await prisma.operationLeg.findFirstOrThrow({ where: { id: legId } })).state ===
        "refunding",
    };
  },
  contactApproval: async (caller) => {
    const body = { name: "Shop", address: testAccount().address };
    const { id } = await callers.owner.client.call(createContact, { body });
    return {
      decide: () =>
        approving((approval) =>
          client(caller).call(approveContact, {
            params: { id },
            body: approval ? { approval } : {},
          }),
        ),
      isDecided: async () =>
        (await prisma.contact.findFirstOrThrow({ where: { id } })).state === "approved",
    };
  },
};

beforeAll(async () => {
  customer = await newCustomer(api);
  callers = await callersOf(api, customer);
  await fund(callers.owner.client, customer.treasury, {
    chainId: CHAIN,
    token: "USDC",
    amount: "1000",
  });
}, 240_000);

test.each([null, "votes", "code", "denies"] as const)(
  "under all guards of the effect %s every decision ends as the table says, for every caller, and nothing is sent",
  async (effect) => {
    expect(await wrongDecisions(api, callers, decisions, effect)).toEqual([]);
  },
  300_000,
);
