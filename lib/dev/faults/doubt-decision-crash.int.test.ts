import { expect, inject, test } from "vitest";
import type { ApiClient } from "@/lib/api-client/client";
import { listAuditLog } from "@/lib/contracts/audit";
import type { BodyInput } from "@/lib/contracts/contract";
import { decidePayoutDoubt } from "@/lib/contracts/payout-doubts";
import { verifyLedger } from "@/lib/books/ledger/verify";
import { remoteApi, testApi } from "@/lib/dev/testing/api";
import { signApproval } from "@/lib/dev/testing/approve";
import { startOddPayouts } from "@/lib/dev/testing/odd-payouts";
import { doubtUnseen, losePaid } from "@/lib/dev/testing/payout-doubts";
import { idOf, pay, read, refusal, row, someone } from "@/lib/dev/testing/payout-requests";
import { eventTypesOf } from "@/lib/dev/testing/project-events";
import { randomOf } from "@/lib/dev/testing/random";
import { startWebLife, type WebLife } from "@/lib/dev/testing/web-life";
import { newWithdrawer, postedOf, transitOf } from "@/lib/dev/testing/withdrawals";
import type { Point } from "@/lib/dev/testing/worker-life";

const IS_LONG = inject("isLong");
const SEED = inject("testSeed");
const random = randomOf(SEED);
/**
 * `npm test` kills at the commits of each decision and at one other step, chosen by the printed
 * seed; the long run kills at each step.
 */
const OTHER_STEPS = IS_LONG ? Infinity : 1;
const KILL_MS = 40_000;
/** Maximum number of steps within the time-out. */
const STEPS_MAX = 30;
/** Two rows of 4 and 2; the decision returns one or both of them. */
const AMOUNT = 6;
const FUNDED = 1_000;

const { devnet, variables } = await startOddPayouts(31337, { usdPegged: true });
const api = await testApi({ variables });
const { services } = api;
const { prisma, pool } = services.database;
const life = { databaseUrl: services.config.databaseUrl, rpcUrls: devnet.rpcUrls, variables };

type Decision = BodyInput<typeof decidePayoutDoubt>;

interface Case {
  readonly decision: "by_chain" | "not_paid";
  readonly status: "partially_completed" | "failed";
  readonly paid: number;
  /** Puts the withdrawal with this id, which has two rows, into doubt. */
  readonly doubt: (id: string) => Promise<void>;
}

const CASES: readonly Case[] = [
  { decision: "not_paid", status: "failed", paid: 0, doubt: (id) => doubtUnseen(services, id) },
  {
    ...{ decision: "by_chain", status: "partially_completed", paid: 4 },
    doubt: async (id) => {
      await losePaid(services, id);
      // A different recipient than the one that the lost transaction paid.
      const where = { payoutId: id, index: 1 };
      await prisma.walletPayoutItem.updateMany({ where, data: { recipient: someone() } });
    },
  },
];

/** The steps of the decision: its last read of the chain, and all of its writes. */
const isStep = ({ label }: Point): boolean =>
  label === "eth_getLogs" ||
  /^(?!.*rate_window|.*session)(?:INSERT|UPDATE|DELETE|COMMIT)/.test(label);

const nameOf = ({ stage, label }: Point): string => `${stage} ${label}`;

/** Numbers the steps that have the same name. */
const createNumbering = () => {
  const met = new Map<string, number>();
  return (point: Point): string => {
    const name = nameOf(point);
    met.set(name, (met.get(name) ?? 0) + 1);
    return `${name} ${String(met.get(name))}`;
  };
};

const sampleOf = (steps: readonly string[]): readonly string[] => {
  const commits = steps.filter((step) => step.includes("COMMIT"));
  const others = steps
    .filter((step) => !commits.includes(step))
    .map((step) => ({ step, order: random() }))
    .sort((one, other) => one.order - other.order)
    .slice(0, OTHER_STEPS);
  return [...others.map(({ step }) => step), ...commits];
};

interface Doubtful {
  readonly id: string;
  /** The decision, approved if that is needed. */
  readonly body: Decision;
}

const decide = (client: ApiClient, { id, body }: Doubtful) =>
  client.call(decidePayoutDoubt, { params: { id }, body });

/** Withdrawals in doubt of one account, and the expected state before and after their decision. */
const newAccount = async ({ decision, status, paid, doubt }: Case) => {
  const { key, person, customer, account } = await newWithdrawer(api, {
    treasury: "2000",
    funded: String(FUNDED),
  });
  const returned = AMOUNT - paid;
  let posted = FUNDED;

  const expectAccount = async (id: string, isDecided: boolean): Promise<void> => {
    const amounts = isDecided
      ? { paid: String(paid), returned: String(returned), inTransit: "0" }
      : { paid: "0", returned: "0", inTransit: String(AMOUNT) };
    const payout = await read(person, id);
    expect(payout).toMatchObject({ status: isDecided ? status : "failed", account: amounts });
    expect(payout.kind === "wallets" ? payout.doubts : null).toHaveLength(isDecided ? 0 : 1);
    expect(await postedOf(person, account)).toBe(String(posted + (isDecided ? returned : 0)));
    expect(await transitOf(person)).toBe(amounts.inTransit);
    expect((await verifyLedger(pool)).violations).toEqual([]);
  };

  const expectRecords = async ({ id, body }: Doubtful, isDecided: boolean): Promise<void> => {
    const approvalId = "approval" in body ? body.approval?.approvalId : undefined;
    const { data } = await person.call(listAuditLog, { query: { subject: id } });
    const entry = { data: { decision, ...(approvalId === undefined ? {} : { approvalId }) } };
    const decisions = data.filter(({ action }) => action === "payout.doubt_decided");
    expect(decisions).toMatchObject(isDecided ? [entry] : []);
    if (approvalId !== undefined) {
      const { consumedAt } = await prisma.approval.findFirstOrThrow({
        where: { id: approvalId },
      });
      expect(consumedAt !== null).toBe(isDecided);
    }
    const types = await eventTypesOf(services.database, id);
    expect(types.filter((type) => type === "payout.doubt_decided")).toHaveLength(
      isDecided ? 1 : 0,
    );
  };

  return {
    clientOf: ({ url }: WebLife): ApiClient =>
      remoteApi(api, url).client({ authorization: `Bearer ${customer.session.accessToken}` }),

    newDoubt: async (): Promise<Doubtful> => {
      const id = idOf(
        await pay(key, [row(someone(), "4"), row(someone(), "2")], {
          sourceAccountId: account,
        }),
      );
      posted -= AMOUNT;
      await doubt(id);
      if (decision === "by_chain") return { id, body: { batch: 0, decision } };
      const statement = { batch: 0, decision, reason: "Explorer" } as const;
      const asked = await decide(person, { id, body: statement }).catch(
        (error: unknown) => error,
      );
      return {
        id,
        body: { ...statement, approval: await signApproval(customer.session.account, asked) },
      };
    },

    /**
     * Checks that the account, the payout, the audit log, the approval and the events all show the
     * decision, or none does.
     */
    expectAll: async (doubtful: Doubtful, isDecided: boolean): Promise<void> => {
      await expectAccount(doubtful.id, isDecided);
      await expectRecords(doubtful, isDecided);
    },

    /** Adds the amount that the account got back by a decision that `expectAll` has checked. */
    settle: () => (posted += returned),
  };
};

/** Decides about one withdrawal without a kill. @returns the steps */
const survey = async (
  web: WebLife,
  { clientOf, newDoubt, expectAll, settle }: Account,
): Promise<readonly string[]> => {
  const doubtful = await newDoubt();
  const steps: string[] = [];
  const numbered = createNumbering();
  web.watch((point) => {
    if (!isStep(point)) return false;
    const step = numbered(point);
    // The number of reads of a search depends on the blocks that the chain has by then.
    if (!step.includes("eth_getLogs") || step.endsWith(" 1")) steps.push(step);
    return false;
  });
  await decide(clientOf(web), doubtful);
  web.watch(() => false);
  await expectAll(doubtful, true);
  settle();
  expect(steps.filter((step) => step.includes("COMMIT"))).toHaveLength(2);
  return steps;
};

type Account = Awaited<ReturnType<typeof newAccount>>;

const walk = async (one: Case): Promise<void> => {
  let standby = startWebLife(life);
  const account = await newAccount(one);
  const { clientOf, newDoubt, expectAll, settle } = account;
  let web = await standby;
  const goals = sampleOf(await survey(web, account));
  for (const goal of goals) {
    standby = startWebLife(life);
    const doubtful = await newDoubt();
    const stepOf = createNumbering();
    web.watch((point) => isStep(point) && stepOf(point) === goal);
    const answer = await refusal(decide(clientOf(web), doubtful));
    expect([goal, answer]).toMatchObject([
      goal,
      { message: expect.stringContaining("cannot be reached") as string },
    ]);
    const died = await web.end();
    expect(died === null ? "" : goal.startsWith(nameOf(died))).toBe(true);
    const isDecided = died?.stage === "after";
    await expectAll(doubtful, isDecided);
    // Repeats the same request twice at once, to the process that replaces the dead one.
    web = await standby;
    const again = () => refusal(decide(clientOf(web), doubtful));
    const codes = (await Promise.all([again(), again()])).map(({ code }) => code).sort();
    expect(codes).toEqual(["invalid_state", isDecided ? "invalid_state" : "ok"]);
    await expectAll(doubtful, true);
    settle();
  }
  await web.end();
  console.log(`Seed ${String(SEED)}: ${one.decision}, killed ${goals.join("; ")}.`);
};

test.each(CASES)(
  `a process killed at ${IS_LONG ? "each step" : "the commits and another step"} of the decision $decision leaves it made as a whole or not at all, and it is made once`,
  walk,
  STEPS_MAX * KILL_MS,
);
