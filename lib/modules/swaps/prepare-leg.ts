import { toJsonTypedData } from "@/lib/chains/typed-data";
import type { ChainRegistry } from "@/lib/chains/registry";
import { DomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import { approvalOf, searchFrom, validitySeconds } from "@/lib/modules/smart-accounts/service";
import type { LegTransactions } from "@/lib/ports/routing";
import {
  build,
  changesOf,
  contextOf,
  describe,
  gasCostOf,
  smartAccountOf,
  type Context,
  type LegInput,
  type LegSimulation,
  type SimulationDeps,
} from "./leg-context";
import { prepareByPermit } from "./prepare-permit";

export type { SimulatedChange, SimulationDeps } from "./leg-context";

/** Maximum time between prepare and execute; the signed operation has to be mined after that. */
const LOCK_SECONDS = 60;

const byService = async (deps: SimulationDeps, context: Context): Promise<LegSimulation> => {
  const { legId, chainId, watched, wallet } = context;
  const { calls } = await build(deps, context);
  const { gas, changes } = await deps.smartAccounts.simulate(
    { account: smartAccountOf(wallet), chainId, legId, calls },
    watched,
  );
  const cost = await gasCostOf(deps, context, { gas });
  return { prepared: { by: "service", legId, gas }, changes: changesOf(context, changes), cost };
};

const byOwner = async (deps: SimulationDeps, context: Context): Promise<LegSimulation> => {
  const { legId, chainId, watched, wallet } = context;
  const account = smartAccountOf(wallet);
  if (await isContract(deps, context, account.ownerAddress)) {
    throw new DomainError(
      "invalid_request",
      "The owner of this smart account is a contract itself, whose signature the account cannot check. Make a smart account whose owner is a plain wallet.",
      {
        details: [{ path: `from.${String(context.leg.sourceIndex)}.address`, message: "has a contract as its owner" }],
      },
    );
  }
  const [built, head] = await Promise.all([build(deps, context), deps.smartAccounts.head(chainId)]);
  const calls = { account, chainId, legId, calls: built.calls };
  const { gas, changes } = await deps.smartAccounts.simulate(calls, watched);
  const validUntil = Number(head.timestamp) + LOCK_SECONDS + validitySeconds(deps.registry.get(chainId).blockTimeMs);
  const { operation, userOpHash, typedData } = await deps.smartAccounts.prepareForOwner({
    ...calls,
    gas,
    validUntil: new Date(validUntil * 1000),
    deploys: context.deploys,
  });
  const cost = await gasCostOf(deps, context, { gas, operation });
  const action = {
    actionId: `${legId}.operation`,
    description: describe(context, deps.registry),
    signer: account.ownerAddress,
    typedData: toJsonTypedData(typedData),
  };
  return {
    prepared: {
      by: "owner",
      legId,
      gas,
      action,
      operation,
      userOpHash,
      validUntil,
      fillDeadline: built.fillDeadline,
      fromBlock: searchFrom(head.number),
    },
    changes: changesOf(context, changes),
    cost,
  };
};

/** Works also for an owner that is not a wallet of the project (any more). */
const isContract = async (
  deps: SimulationDeps,
  { projectId, chainId }: Context,
  owner: `0x${string}`,
): Promise<boolean> => {
  const [linked, hasCode] = await Promise.all([
    deps.wallets.find(projectId, owner),
    deps.smartAccounts.isContract(chainId, owner),
  ]);
  return hasCode || (linked?.contractChainId ?? null) !== null;
};

/** The wallet has to pay for its own transactions, in the chain's coin. */
const requireCoins = async (
  deps: SimulationDeps,
  context: Context,
  { coins, expectedGas, value }: { coins: bigint; expectedGas: bigint; value: bigint },
): Promise<void> => {
  const { chainId, source, leg } = context;
  const fee = expectedGas * (await deps.smartAccounts.maxFeePerGas(chainId));
  if (coins >= value + fee) return;
  const native = deps.registry.native(chainId);
  const missing = formatAmount(value + fee - coins, native.decimals);
  throw new DomainError(
    "insufficient_balance",
    `The wallet ${source.owner} cannot pay the network fee on ${deps.registry.get(chainId).name}. Nothing was sent; send it some of the chain's coin first.`,
    {
      details: [
        {
          path: `from.${String(leg.sourceIndex)}.amount`,
          message: `${missing} ${native.symbol} are missing for the network fee`,
        },
      ],
    },
  );
};

const byWallet = async (deps: SimulationDeps, context: Context): Promise<LegSimulation> => {
  const { legId, chainId, source, watched } = context;
  const [built, head, fromNonce] = await Promise.all([
    build(deps, context),
    deps.smartAccounts.head(chainId),
    deps.smartAccounts.sent.count(chainId, source.owner),
  ]);
  const calls = await deps.smartAccounts.neededCalls({ chainId, wallet: source.owner, calls: built.calls });
  const { gas, expectedGas, changes, coins } = await deps.smartAccounts.simulateWallet(
    { chainId, wallet: source.owner, calls },
    watched,
  );
  deps.sponsorship.checkTransactionGas({ chainId, gas });
  await requireCoins(deps, context, { coins, expectedGas, value: calls.reduce((sum, { value }) => sum + value, 0n) });
  const chain = deps.registry.get(chainId).name;
  return {
    prepared: {
      by: "wallet",
      legId,
      chainId,
      wallet: source.owner,
      transactions: calls.map((call, index) => ({
        ...call,
        actionId: `${legId}.transaction.${String(index)}`,
        gas: gas[index] ?? 0n,
        description: transactionText(context, deps.registry, call, index === calls.length - 1, chain),
      })),
      fromNonce,
      validUntil: built.validUntil,
      fillDeadline: built.fillDeadline,
      fromBlock: searchFrom(head.number),
    },
    changes: changesOf(context, changes),
    cost: null,
  };
};

const transactionText = (
  context: Context,
  registry: ChainRegistry,
  call: LegTransactions["calls"][number],
  isLast: boolean,
  chain: string,
): string => {
  const approval = approvalOf(call);
  if (approval === null) return isLast ? describe(context, registry) : `Swap to what the bridge carries on ${chain}`;
  const token = registry.tokens(context.chainId).find(({ address }) => address === approval.token);
  if (token === undefined) return `Allow a contract to take a token on ${chain}`;
  return approval.amount === 0n
    ? `Take back an old allowance of ${token.symbol} on ${chain}`
    : `Allow exactly ${formatAmount(approval.amount, token.decimals)} ${token.symbol} to be taken on ${chain}`;
};

/**
 * Builds a leg, simulates it against the chain's current state, and lists the signatures and transactions that it
 * needs.
 * @throws DomainError `simulation_failed`, `sponsor_budget_exceeded`, `insufficient_balance`, `invalid_request` for a
 * wallet that cannot be a source, `chain_unavailable`
 */
export const prepareLeg = async (deps: SimulationDeps, input: LegInput): Promise<LegSimulation> => {
  const context = contextOf(input);
  const { wallet } = context;
  if (wallet.keyId !== null) return byService(deps, context);
  if (wallet.ownerAddress !== null) return byOwner(deps, context);
  if (wallet.contractChainId !== undefined && wallet.contractChainId !== null) {
    throw new DomainError(
      "invalid_request",
      "A linked wallet that is a contract cannot be a source: its transactions are sent by somebody else. Send the money to another wallet of yours first.",
      { details: [{ path: `from.${String(input.leg.sourceIndex)}.address`, message: "is a contract" }] },
    );
  }
  return (await prepareByPermit(deps, context)) ?? (await byWallet(deps, context));
};
