import type { TypedDataDefinition } from "viem";
import { toJsonTypedData } from "@/lib/chains/typed-data";
import { isDomainError } from "@/lib/core/errors";
import {
  permit2NonceOf,
  permit2TypedData,
  permitTypedData,
  type Eip2612Permit,
  type Permit,
} from "@/lib/modules/smart-accounts/service";
import type { EvmAddress } from "@/lib/ports/routing";
import type { PreparedLeg } from "@/lib/modules/quotes/service";
import {
  build,
  changesOf,
  describe,
  gasCostOf,
  smartAccountOf,
  type Context,
  type LegSimulation,
  type SimulationDeps,
} from "./leg-context";

/** Validity of a permit. The operation that uses it may have to wait before it is sent. */
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
  /** Appended to the description of the leg. */
  readonly manner: string;
}

/** The permit that the wallet could sign under one standard; null when chain, token or wallet do not support it. */
type Standard = (deps: SimulationDeps, context: Context, terms: Terms) => Promise<Offer | null>;

const deadlineAfter = ({ timestamp }: { readonly timestamp: bigint }): bigint => timestamp + BigInt(PERMIT_SECONDS);

const eip2612: Standard = async ({ smartAccounts }, { chainId }, terms) => {
  const domain = await smartAccounts.permits.domainOf(chainId, terms.token);
  if (domain === null) return null;
  const [head, nonce] = await Promise.all([
    smartAccounts.head(chainId),
    smartAccounts.permits.nonceOf(chainId, terms.token, terms.owner),
  ]);
  const permit: Eip2612Permit = { standard: "eip2612", ...terms, nonce, deadline: deadlineAfter(head) };
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
  return { permit, typedData: permit2TypedData(chainId, permit), manner: "by a signature for Permit2" };
};

/** Null when the leg cannot run by permit without using the treasury's own money. */
const prepareBy = async (standard: Standard, deps: SimulationDeps, context: Context): Promise<LegSimulation | null> => {
  const { source, chainId, legId, leg, request, watched } = context;
  const token = source.token.address;
  if (token === "native" || deps.registry.get(chainId).contracts.paymaster === undefined) return null;
  const treasury = await deps.wallets.treasury(context.projectId);
  if (treasury === null) return null;
  const account = smartAccountOf(treasury);
  const terms = { token, owner: source.owner, spender: account.address, value: source.amountBase };
  const offer = await standard(deps, context, terms);
  if (offer === null) return null;
  const [built, isStrict] = await Promise.all([
    build(deps, context, account.address),
    deps.smartAccounts.revertsOverdraft({ chainId, token, holder: source.owner, taker: account.address }),
  ]);
  // The treasury must neither keep unused tokens of the wallet nor pay for tokens that the wallet lacks.
  if (!built.spendsAll || !isStrict) return null;
  const { permit, typedData, manner } = offer;
  const transferTo = leg.kind === "transfer" ? request.destination.recipient : null;
  const { gas, changes } = await deps.smartAccounts.simulatePermitted(
    { account, chainId, legId, permit, leg: { calls: built.calls, transferTo } },
    [...watched, { owner: account.address, token: source.token }],
  );
  // With a fee-on-transfer token the treasury would pay the difference from its own tokens.
  const treasuryChange = changes[watched.length] ?? 0n;
  if (transferTo === null && treasuryChange !== 0n) return null;
  const cost = await gasCostOf(deps, context, { gas });
  const { projectId, kind } = context;
  // Without sponsorship the wallet can still pay for its own transactions.
  await deps.sponsorship.check({ projectId, kind, costs: cost === null ? [] : [cost] });
  const action = {
    actionId: `${legId}.permit`,
    description: `${describe(context, deps.registry)}, ${manner}`,
    signer: source.owner,
    typedData: toJsonTypedData(typedData),
  };
  const prepared: PreparedLeg = { by: "permit", legId, gas, action, executorWalletId: treasury.id, permit };
  return { prepared, changes: changesOf(context, changes), cost };
};

const ignoreRefusal = (error: unknown): null => {
  if (isDomainError(error) && (error.code === "simulation_failed" || error.code === "sponsor_budget_exceeded"))
    return null;
  throw error;
};

/**
 * Prepares a leg for which a plain wallet only signs a permit, with which the treasury takes its tokens: a permit of
 * the token itself (EIP-2612), otherwise one for Permit2 when the wallet has approved Permit2. Null when neither is
 * possible.
 * @throws DomainError `chain_unavailable`
 */
export const prepareByPermit = async (deps: SimulationDeps, context: Context): Promise<LegSimulation | null> => {
  // When a permit cannot be simulated or sponsored, the wallet can still send transactions, so its error is ignored.
  for (const standard of [eip2612, permit2]) {
    const prepared = await prepareBy(standard, deps, context).catch(ignoreRefusal);
    if (prepared !== null) return prepared;
  }
  return null;
};
