/** Notifies owners and admins when the service has too little left for network fees. */
import { GAS_LOW_OPERATIONS, type GasBalances } from "@/lib/chain/gas-balances";
import type { Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/platform/db/client";
import type { Sql } from "@/lib/platform/db/sql";
import { insertNotifications, readRecipients } from "./due-repository";
import { advanceAlert, claimAlert, endAlert, nextProjects, raiseAlert } from "./repository";
import type { GasAlert } from "./rows";
import { messagesOf } from "./channel-message";
import { insertMessages, readSubscribed } from "./channel-repository";
import { nextDaily } from "@/lib/core/clock";
import { insertPushes } from "./push-repository";
import { type News, notificationsOf } from "./notification";

export interface GasWatchDeps {
  readonly database: Database;
  readonly chains: readonly {
    readonly id: number;
    readonly name: string;
    readonly coin: string;
  }[];
  /**
   * Reads the coins that the service's accounts have for network fees.
   * @throws when the chain does not answer
   */
  readonly read: (chainId: number) => Promise<GasBalances>;
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
}

/**
 * An alert ends at this multiple of the minimum, so that a balance near the minimum does not notify
 * people repeatedly.
 */
const ENOUGH = 2;
const PROJECTS_PER_TURN = 50;
const ACCOUNTS = ["executor", "paymaster"] as const;

const inWords: Readonly<Record<GasAlert["account"], string>> = {
  executor: "The account that sends the service's transactions",
  paymaster: "The paymaster that sponsors network fees",
};

export const createGasWatch = ({ database, chains, read, clock, log }: GasWatchDeps) => {
  const compare = async (chainId: number): Promise<void> => {
    const balances = await read(chainId);
    const least = balances.operation * GAS_LOW_OPERATIONS;
    await database.rawTransaction(async (sql) => {
      for (const account of ACCOUNTS) {
        const coins = balances[account];
        if (coins === null || coins >= least * ENOUGH)
          await endAlert(sql, { chainId, account });
        else if (coins < least) {
          const balance = String(Number(coins.toPrecision(4)));
          await raiseAlert(sql, { chainId, account, balance, since: clock.now() });
        }
      }
    });
  };

  const newsOf = ({ chainId, account, balance, since }: GasAlert, projectId: string): News => {
    const { name = `chain ${String(chainId)}`, coin = "coins" } =
      chains.find(({ id }) => id === chainId) ?? {};
    const title = `The service has little left for network fees on ${name}`;
    return {
      ...{
        projectId,
        kind: "gas_low",
        objectId: null,
        path: "/settings/sponsor-budgets",
        at: since,
      },
      source: `gas:${String(chainId)}:${account}:${String(since.getTime())}`,
      title,
      plainTitle: title,
      isPrivate: false,
      detail: `${inWords[account]} has ${balance} ${coin}. Payments on ${name} stop when it is used up; nothing is lost. The operator of the service must top it up.`,
      ...{ depositUsd: null, decisionId: null, by: null },
    };
  };

  /**
   * Notifies the people of the next projects about one alert.
   * @returns whether more projects may remain
   */
  const tellSome = async (sql: Sql): Promise<boolean> => {
    const alert = await claimAlert(sql);
    if (alert === null) return false;
    const projectIds = await nextProjects(sql, alert.toldProjectId, PROJECTS_PER_TURN);
    const people = await readRecipients(sql, projectIds);
    const now = clock.now();
    const all = projectIds.map((id) => newsOf(alert, id));
    const made = all.flatMap((news) =>
      notificationsOf(news, people.get(news.projectId) ?? [], new Map()),
    );
    await insertNotifications(sql, made, { atOnce: now, daily: nextDaily(now) });
    await insertPushes(sql, made, now);
    await insertMessages(sql, messagesOf(all, await readSubscribed(sql, projectIds)));
    const isLast = projectIds.length < PROJECTS_PER_TURN;
    const projectId = projectIds.at(-1) ?? alert.toldProjectId;
    await advanceAlert(sql, alert, { projectId, toldAt: isLast ? now : null });
    return true;
  };

  return {
    /**
     * Compares every chain's accounts with the minimum, and notifies people of new alerts. A chain
     * that does not answer is checked later.
     */
    watch: async (): Promise<void> => {
      const asked = await Promise.allSettled(chains.map(({ id }) => compare(id)));
      for (const result of asked)
        if (result.status === "rejected")
          log.warn(
            { err: result.reason as unknown },
            "coins for network fees could not be read",
          );
      while (await database.rawTransaction(tellSome));
    },
  };
};
