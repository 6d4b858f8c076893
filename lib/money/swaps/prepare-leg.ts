import type { TypedDataDefinition } from "viem";
import { toJsonTypedData } from "@/lib/chain/typed-data";
import { DomainError, isDomainError } from "@/lib/core/errors";
import {
  approvalOf,
  type Eip2612Permit,
  type Permit,
  permit2NonceOf,
  permit2TypedData,
  permitTypedData,
  validitySeconds,
} from "@/lib/chain/smart-accounts/service";
import type { EvmAddress } from "@/lib/core/evm";
import type { LegTransactions } from "@/lib/money/ports/routing";
import type { PreparedLeg } from "@/lib/money/quotes/service";
import {
  build,
  changesOf,
  type Context,
  contextOf,
  describe,
  gasCostOf,
  type LegInput,
  type LegSimulation,
  type SimulationDeps,
  smartAccountOf,
} from "./leg-context";
import type { ChainRegistry } from "@/lib/chain/registry";
import { formatAmount } from "@/lib/core/money";

/**
 * Seconds for which a permit is valid. The time is longer than the price lock, because the
 * operation that uses the permit may have to wait before it is sent.
 */
const PERMIT_SECONDS = 900;

interface Terms {
  readonly token: EvmAddress;
  readonly owner: EvmAddress;
  readonly spender: EvmAddress;
  readonly value: bigint;
}

interface Offer {
  readonly permit: Permit;
  readonly typedData: TypedDataDefinition;
  /** A text about how the wallet pays, appended to the description of the leg. */
  readonly manner: string;
}

/**
 * The permit that the wallet could sign under one standard; null when the chain, token or wallet
 * does not support the standard.
 */
type Standard = (deps: SimulationDeps, context: Context, terms: Terms) => Promise<Offer | null>;

const deadlineAfter = ({ timestamp }: { readonly timestamp: bigint }): bigint =>
  timestamp + BigInt(PERMIT_SECONDS);

const eip2612: Standard = async ({ smartAccounts }, { chainId }, terms) => {
  const domain = await smartAccounts.permits.domainOf(chainId, terms.token);
  if (domain === null) return null;
  const [head, nonce] = await Promise.all([
    smartAccounts.head(chainId),
    smartAccounts.permits.nonceOf(chainId, terms.token, terms.owner),
  ]);
  const permit: Eip2612Permit = {
    standard: "eip2612",
    ...terms,
    nonce,
    deadline: deadlineAfter(head),
  };
  return { permit, typedData: permitTypedData(domain, permit), manner: "by a signature" };
};

const permit2: Standard = async ({ smartAccounts }, { chainId, legId }, terms) => {
  const address = await smartAccounts.permit2.addressOn(chainId);
  if (address === null) return null;
  const deadline = deadlineAfter(await smartAccounts.head(chainId));
  const permit = {
    standard: "permit2",
    permit2: address,
    ...terms,
    nonce: permit2NonceOf(legId),
    deadline,
  } as const;
  if ((await smartAccounts.permit2.obstacle(chainId, permit)) !== null) return null;
  return {
    permit,
    typedData: permit2TypedData(chainId, permit),
    manner: "by a signature for Permit2",
  };
};

/**
 * Prepares the leg with a permit of this standard. Returns null when the wallet cannot sign such a
 * permit, or when the permit cannot be executed without using the treasury's money.
 */
const prepareBy = async (
  standard: Standard,
  deps: SimulationDeps,
  context: Context,
): Promise<LegSimulation | null> => {
  const { source, chainId, legId, leg, request, watched } = context;
  const token = source.token.address;
  if (token === "native" || deps.registry.get(chainId).contracts.paymaster === undefined)
    return null;
  const treasury = await deps.wallets.treasury(context.projectId);
  if (treasury === null) return null;
  const account = smartAccountOf(treasury);
  const terms = {
    token,
    owner: source.owner,
    spender: account.address,
    value: source.amountBase,
  };
  const offer = await standard(deps, context, terms);
  if (offer === null) return null;
  const [built, isStrict] = await Promise.all([
    build(deps, context, account.address),
    deps.smartAccounts.revertsOverdraft({
      chainId,
      token,
      holder: source.owner,
      taker: account.address,
    }),
  ]);
  // Without this check, the treasury could retain unused tokens of the wallet, or pay for tokens
  // that the wallet lacks.
  if (!built.spendsAll || !isStrict) return null;
  const { permit, typedData, manner } = offer;
  const transferTo = leg.kind === "transfer" ? request.destination.recipient : null;
  const { gas, changes } = await deps.smartAccounts.simulatePermitted(
    { account, chainId, legId, permit, leg: { calls: built.calls, transferTo } },
    [...watched, { owner: account.address, token: source.token }],
  );
  // The treasury's balance must not change. With a fee-on-transfer token the treasury would pay
  // the difference.
  const treasuryChange = changes[watched.length] ?? 0n;
  if (transferTo === null && treasuryChange !== 0n) return null;
  const cost = await gasCostOf(deps, context, { gas });
  const { projectId, kind } = context;
  // An error here ends only the attempt with a permit. Without sponsorship the wallet can still
  // send and pay for the transactions itself.
  await deps.sponsorship.check({ projectId, kind, costs: cost === null ? [] : [cost] });
  const action = {
    actionId: `${legId}.permit`,
    description: `${describe(context, deps.registry)}, ${manner}`,
    signer: source.owner,
    typedData: toJsonTypedData(typedData),
  };
  const prepared: PreparedLeg = {
    by: "permit",
    legId,
    gas,
    action,
    executorWalletId: treasury.id,
    permit,
  };
  return { prepared, changes: changesOf(context, changes), cost };
};

const ignoreRefusal = (error: unknown): null => {
  if (
    isDomainError(error) &&
    (error.code === "simulation_failed" || error.code === "sponsor_budget_exceeded")
  )
    return null;
  throw error;
};

/**
 * Prepares a leg for which a linked wallet only signs a permit that lets the treasury transfer its
 * tokens: a permit of the token (EIP-2612), or one for Permit2 when the wallet has approved
 * Permit2. Null when neither is possible.
 * @throws DomainError `chain_unavailable`
 */
const prepareByPermit = async (
  deps: SimulationDeps,
  context: Context,
): Promise<LegSimulation | null> => {
  // When a permit cannot be simulated or sponsored, the wallet can still send transactions, so the
  // error is ignored.
  for (const standard of [eip2612, permit2]) {
    const prepared = await prepareBy(standard, deps, context).catch(ignoreRefusal);
    if (prepared !== null) return prepared;
  }
  return null;
};

export type { SimulatedChange, SimulationDeps } from "./leg-context";

/**
 * Seconds that an account's owner has between prepare and execute. The validity of the operation
 * also includes the time that the signed operation needs to be mined.
 */
const LOCK_SECONDS = 60;

const byService = async (deps: SimulationDeps, context: Context): Promise<LegSimulation> => {
  const { legId, chainId, watched, wallet } = context;
  const { calls } = await build(deps, context);
  const { gas, changes } = await deps.smartAccounts.simulate(
    { account: smartAccountOf(wallet), chainId, legId, calls },
    watched,
  );
  const cost = await gasCostOf(deps, context, { gas });
  return {
    prepared: { by: "service", legId, gas },
    changes: changesOf(context, changes),
    cost,
  };
};

const byOwner = async (deps: SimulationDeps, context: Context): Promise<LegSimulation> => {
  const { legId, chainId, watched, wallet } = context;
  const account = smartAccountOf(wallet);
  if (await isContract(deps, context, account.ownerAddress)) {
    throw new DomainError(
      "invalid_request",
      "The owner of this smart account is a contract itself, whose signature the account cannot check. Make a smart account whose owner is a plain wallet.",
      {
        details: [
          {
            path: `from.${String(context.leg.sourceIndex)}.address`,
            message: "has a contract as its owner",
          },
        ],
      },
    );
  }
  const [built, head] = await Promise.all([
    build(deps, context),
    deps.smartAccounts.head(chainId),
  ]);
  const calls = { account, chainId, legId, calls: built.calls };
  const { gas, changes } = await deps.smartAccounts.simulate(calls, watched);
  const validUntil =
    Number(head.timestamp) +
    LOCK_SECONDS +
    validitySeconds(deps.registry.get(chainId).blockTimeMs);
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
      fromBlock: deps.smartAccounts.searchFrom(chainId, head.number),
    },
    changes: changesOf(context, changes),
    cost,
  };
};

/**
 * Whether the owner is a contract. Reads the code on chain as well as the project's wallets,
 * because the owner may not be a wallet of the project.
 */
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

/** Checks that the wallet has coins for the network fee of its transactions. */
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
  const calls = await deps.smartAccounts.neededCalls({
    chainId,
    wallet: source.owner,
    calls: built.calls,
  });
  const { gas, expectedGas, changes, coins } = await deps.smartAccounts.simulateWallet(
    { chainId, wallet: source.owner, calls },
    watched,
  );
  deps.sponsorship.checkTransactionGas({ chainId, gas });
  await requireCoins(deps, context, {
    coins,
    expectedGas,
    value: calls.reduce((sum, { value }) => sum + value, 0n),
  });
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
        description: transactionText(context, deps.registry, call, chain),
      })),
      fromNonce,
      validUntil: built.validUntil,
      fillDeadline: built.fillDeadline,
      fromBlock: deps.smartAccounts.searchFrom(chainId, head.number),
    },
    changes: changesOf(context, changes),
    cost: null,
  };
};

const transactionText = (
  context: Context,
  registry: ChainRegistry,
  call: LegTransactions["calls"][number],
  chain: string,
): string => {
  const approval = approvalOf(call);
  if (approval === null) return describe(context, registry);
  const token = registry
    .tokens(context.chainId)
    .find(({ address }) => address === approval.token);
  if (token === undefined) return `Allow a contract to take a token on ${chain}`;
  return approval.amount === 0n
    ? `Take back an old allowance of ${token.symbol} on ${chain}`
    : `Allow exactly ${formatAmount(approval.amount, token.decimals)} ${token.symbol} to be taken on ${chain}`;
};

/**
 * Builds a leg, simulates it against the chain's current state, and lists the signatures and
 * transactions that it needs.
 * @throws DomainError `simulation_failed`, `sponsor_budget_exceeded`, `insufficient_balance`,
 * `invalid_request` for a wallet that cannot be a source, `chain_unavailable`
 */
export const prepareLeg = async (
  deps: SimulationDeps,
  input: LegInput,
): Promise<LegSimulation> => {
  const context = contextOf(input);
  const { wallet } = context;
  if (wallet.keyId !== null) return byService(deps, context);
  if (wallet.ownerAddress !== null) return byOwner(deps, context);
  if (wallet.contractChainId !== undefined && wallet.contractChainId !== null) {
    throw new DomainError(
      "invalid_request",
      "A linked wallet that is a contract cannot be a source: its transactions are sent by somebody else. Send the money to another wallet of yours first.",
      {
        details: [
          { path: `from.${String(input.leg.sourceIndex)}.address`, message: "is a contract" },
        ],
      },
    );
  }
  return (await prepareByPermit(deps, context)) ?? (await byWallet(deps, context));
};
