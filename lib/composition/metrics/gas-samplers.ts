/** The coins from which the service pays network fees, and for how long they last. */
import type { Address } from "viem";
import {
  type GasBalances,
  LARGE_OPERATION_GAS,
  readGasBalances,
} from "@/lib/chain/gas-balances";
import type { ChainRegistry } from "@/lib/chain/registry";
import type { SqlReader } from "@/lib/platform/db/sql";
import { gauge, type Sampler } from "@/lib/platform/telemetry/registry";
import { eachChain } from "./samplers";

const COINS_FRESH_MS = 30_000;
const DAYS_FRESH_MS = 60_000;
/** Days over which the spending is averaged. */
const AVERAGE_DAYS = 7;

const executorBalance = gauge({
  name: "causeway_executor_balance_coins",
  help: "What the executor has for network fees, in whole coins of the chain; of several keys the one with the least",
  labels: ["chain"],
});
const paymasterDeposit = gauge({
  name: "causeway_paymaster_deposit_coins",
  help: "What the paymaster has at EntryPoint for sponsored network fees, in whole coins of the chain",
  labels: ["chain"],
});
const executorOperations = gauge({
  name: "causeway_executor_gas_operations",
  help: "Large operations (1.5 million gas) for which the executor can pay at the present price; of several keys the one with the least",
  labels: ["chain"],
});
const paymasterOperations = gauge({
  name: "causeway_paymaster_gas_operations",
  help: "Large operations (1.5 million gas) for which the paymaster can pay at the present price",
  labels: ["chain"],
});
const price = gauge({
  name: "causeway_gas_price_coins",
  help: "Present price of one unit of gas, in whole coins of the chain",
  labels: ["chain"],
});
const executorDays = gauge({
  name: "causeway_executor_gas_days",
  help: "Days for which the executor can pay what nobody gives back to it, at the present price and with the gas of the last 7 days; missing when it paid nothing",
  labels: ["chain"],
});
const paymasterDays = gauge({
  name: "causeway_paymaster_gas_days",
  help: "Days for which the paymaster can pay as much as in the last 7 days, at the prices of those days; missing when it paid nothing",
  labels: ["chain"],
});

interface GasSamplerDeps {
  readonly registry: Pick<ChainRegistry, "list" | "get" | "client">;
  readonly sql: SqlReader;
  readonly executorAddresses: readonly Address[];
}

/**
 * Sets a gauge of a chain, or removes it when the value is unknown. An old value must not stay
 * visible as the present one.
 */
const show = (
  metric: typeof executorDays,
  chainId: number,
  value: number | null | undefined,
): void => {
  const chain = String(chainId);
  if (value === null || value === undefined || !Number.isFinite(value))
    metric.remove({ chain });
  else metric.set({ chain }, value);
};

const showCoins = (chainId: number, balances: GasBalances): void => {
  const { executor, paymaster, operation } = balances;
  const operationsOf = (coins: number | null): number | null =>
    coins === null ? null : coins / operation;
  show(executorBalance, chainId, executor);
  show(paymasterDeposit, chainId, paymaster);
  show(executorOperations, chainId, operationsOf(executor));
  show(paymasterOperations, chainId, operationsOf(paymaster));
  show(price, chainId, operation / Number(LARGE_OPERATION_GAS));
};

/** Network fees of one chain in the last seven days. */
interface Spent {
  readonly chainId: number;
  /** Gas limits of mined transactions of the executor that no user operation pays for. */
  readonly executorGas: number;
  /** Paid by the paymaster, in wei. */
  readonly paymasterWei: number;
}

// EntryPoint gives the cost of a bundle back to the executor, so bundles are left out. Marks for
// external bundlers and anchors of the audit log stay.
const SPENT = `
  SELECT chain_id AS "chainId", sum(gas)::float8 AS "executorGas", sum(wei)::float8 AS "paymasterWei"
  FROM (
    SELECT chain_id, gas::numeric AS gas, 0::numeric AS wei FROM chain_transaction
    WHERE purpose NOT LIKE 'bundle:%' AND status IN ('mined', 'final')
      AND created_at > now() - ${String(AVERAGE_DAYS)} * interval '1 day'
    UNION ALL
    SELECT chain_id, 0, used_wei FROM sponsor_usage
    WHERE day > (now() AT TIME ZONE 'UTC')::date - ${String(AVERAGE_DAYS)}
  ) AS spent
  GROUP BY chain_id`;

/** @returns null when nothing was spent */
const daysLeft = (coins: number | null, spentCoins: number): number | null =>
  coins === null || spentCoins <= 0 ? null : (coins / spentCoins) * AVERAGE_DAYS;

const daysSampler = ({ registry, sql, executorAddresses }: GasSamplerDeps): Sampler => ({
  freshMs: DAYS_FRESH_MS,
  sample: async () => {
    const rows = await sql.query<Spent>(SPENT, []);
    const spentOn = new Map(rows.map((row) => [row.chainId, row]));
    await eachChain(registry, async (chainId) => {
      const spent = spentOn.get(chainId);
      const { executor, paymaster, operation } = await readGasBalances(
        registry,
        chainId,
        executorAddresses,
      );
      // The executor's keys share the work, so each pays for its part of the gas.
      const gasOfOne = (spent?.executorGas ?? 0) / Math.max(1, executorAddresses.length);
      const executorCoins = (gasOfOne * operation) / Number(LARGE_OPERATION_GAS);
      const { decimals } = registry.get(chainId).nativeCurrency;
      const paymasterCoins = (spent?.paymasterWei ?? 0) / 10 ** decimals;
      show(executorDays, chainId, daysLeft(executor, executorCoins));
      show(paymasterDays, chainId, daysLeft(paymaster, paymasterCoins));
    });
  },
});

export const gasSamplers = (deps: GasSamplerDeps): Readonly<Record<string, Sampler>> => ({
  coins: {
    freshMs: COINS_FRESH_MS,
    sample: () =>
      eachChain(deps.registry, async (chainId) => {
        const { registry, executorAddresses } = deps;
        showCoins(chainId, await readGasBalances(registry, chainId, executorAddresses));
      }),
  },
  gasDays: daysSampler(deps),
});
