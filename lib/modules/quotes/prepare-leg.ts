import { toJsonTypedData } from "@/lib/chains/typed-data";
import type { ChainRegistry } from "@/lib/chains/registry";
import { DomainError, isDomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import {
  approvalOf,
  permittedCalls,
  permitTypedData,
  searchFrom,
  validitySeconds,
} from "@/lib/modules/accounts/service";
import type { LegTransactions } from "@/lib/ports/routing";
import {
  build,
  changesOf,
  contextOf,
  describe,
  smartAccountOf,
  type Context,
  type LegInput,
  type LegSimulation,
  type SimulationDeps,
} from "./leg-context";
import type { PreparedLeg } from "./prepared";

export type { SimulatedChange, SimulationDeps } from "./leg-context";

/** Execute may follow so long after prepare, and then what is signed has to be mined. */
const LOCK_SECONDS = 60;
/** The operation that uses a permit may wait for its turn before it is sent. */
const PERMIT_SECONDS = 900;

const byService = async (deps: SimulationDeps, context: Context): Promise<LegSimulation> => {
  const { legId, chainId, watched, wallet } = context;
  const { calls } = await build(deps, context);
  const { gas, changes } = await deps.accounts.simulate(
    { account: smartAccountOf(wallet), chainId, legId, calls },
    watched,
  );
  return { prepared: { by: "service", legId, gas }, changes: changesOf(context, changes) };
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
  const [built, head] = await Promise.all([build(deps, context), deps.accounts.head(chainId)]);
  const calls = { account, chainId, legId, calls: built.calls };
  const { gas, changes } = await deps.accounts.simulate(calls, watched);
  const validUntil = Number(head.timestamp) + LOCK_SECONDS + validitySeconds(deps.registry.get(chainId).blockTimeMs);
  const { operation, userOpHash, typedData } = await deps.accounts.prepareForOwner({
    ...calls,
    gas,
    validUntil: new Date(validUntil * 1000),
    deploys: context.deploys,
  });
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
  };
};

/** Whoever it is: the owner of a smart account need be no wallet of the project (any more). */
const isContract = async (
  deps: SimulationDeps,
  { projectId, chainId }: Context,
  owner: `0x${string}`,
): Promise<boolean> => {
  const [linked, hasCode] = await Promise.all([
    deps.wallets.find(projectId, owner),
    deps.accounts.isContract(chainId, owner),
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
  const fee = expectedGas * (await deps.accounts.maxFeePerGas(chainId));
  if (coins >= value + fee) return;
  const native = deps.registry.native(chainId);
  const missing = formatAmount(value + fee - coins, native.decimals);
  throw new DomainError(
    "insufficient_balance",
    `The wallet ${source.owner} cannot pay the network fee on ${deps.registry.get(chainId).name}. Nothing was sent.`,
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
    deps.accounts.head(chainId),
    deps.accounts.sent.count(chainId, source.owner),
  ]);
  const calls = await deps.accounts.neededCalls({ chainId, wallet: source.owner, calls: built.calls });
  const { gas, expectedGas, changes, coins } = await deps.accounts.simulateWallet(
    { chainId, wallet: source.owner, calls },
    watched,
  );
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

/** Null where token, leg or chain do not allow it: then the wallet sends transactions. */
const byPermit = async (deps: SimulationDeps, context: Context): Promise<LegSimulation | null> => {
  const { source, chainId, legId, leg, request, watched } = context;
  const token = source.token.address;
  if (token === "native" || deps.registry.get(chainId).contracts.verifyingPaymaster === undefined) return null;
  const domain = await deps.accounts.permits.domainOf(chainId, token);
  if (domain === null) return null;
  const treasury = (await deps.wallets.list(context.projectId)).find(({ kind }) => kind === "treasury");
  if (treasury === undefined) return null;
  const account = smartAccountOf(treasury);
  const [built, head, nonce, isStrict] = await Promise.all([
    build(deps, context, account.address),
    deps.accounts.head(chainId),
    deps.accounts.permits.nonceOf(chainId, token, source.owner),
    deps.accounts.revertsOverdraft({ chainId, token, holder: source.owner, taker: account.address }),
  ]);
  // What would be left over would lie in the treasury; and what the wallet would lack, the treasury would pay.
  if (!built.spendsAll || !isStrict) return null;
  const deadline = head.timestamp + BigInt(PERMIT_SECONDS);
  const permit = { token, owner: source.owner, spender: account.address, value: source.amountBase, nonce, deadline };
  const transferTo = leg.kind === "transfer" ? request.destination.recipient : null;
  const { gas, changes } = await deps.accounts.simulatePermitted(
    { account, chainId, legId, permit, calls: permittedCalls(permit, { calls: built.calls, transferTo }) },
    [...watched, { owner: account.address, token: source.token }],
  );
  // A token that takes a fee on the way would make the treasury pay the difference out of its own.
  const treasuryChange = changes[watched.length] ?? 0n;
  if (transferTo === null && treasuryChange !== 0n) return null;
  const action = {
    actionId: `${legId}.permit`,
    description: `${describe(context, deps.registry)}, by a signature`,
    signer: source.owner,
    typedData: toJsonTypedData(permitTypedData(domain, permit)),
  };
  const prepared: PreparedLeg = { by: "permit", legId, gas, action, executorWalletId: treasury.id, permit };
  return { prepared, changes: changesOf(context, changes) };
};

/**
 * Builds a leg, simulates it against the chain as it is now, and says who has to sign what for it.
 * @throws DomainError `simulation_failed`, `insufficient_balance`, `invalid_request` for a wallet that cannot be a source,
 * `chain_unavailable`
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
  // A permit that cannot be simulated is no reason to refuse what transactions can do.
  return (await byPermit(deps, context).catch(ignoreSimulation)) ?? (await byWallet(deps, context));
};

const ignoreSimulation = (error: unknown): null => {
  if (isDomainError(error) && error.code === "simulation_failed") return null;
  throw error;
};
