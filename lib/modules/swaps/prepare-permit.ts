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

/** The operation that uses a permit may wait for its turn before it is sent. */
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
  /** Behind what the leg does. */
  readonly manner: string;
}

/** What the wallet could sign under one standard; null where chain, token or wallet do not allow it. */
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

/** Null where it cannot be done in this way without touching what is the treasury's own. */
const prepareBy = async (standard: Standard, deps: SimulationDeps, context: Context): Promise<LegSimulation | null> => {
  const { source, chainId, legId, leg, request, watched } = context;
  const token = source.token.address;
  if (token === "native" || deps.registry.get(chainId).contracts.paymaster === undefined) return null;
  const treasury = (await deps.wallets.list(context.projectId)).find(({ kind }) => kind === "treasury");
  if (treasury === undefined) return null;
  const account = smartAccountOf(treasury);
  const terms = { token, owner: source.owner, spender: account.address, value: source.amountBase };
  const offer = await standard(deps, context, terms);
  if (offer === null) return null;
  const [built, isStrict] = await Promise.all([
    build(deps, context, account.address),
    deps.smartAccounts.revertsOverdraft({ chainId, token, holder: source.owner, taker: account.address }),
  ]);
  // The treasury must neither keep a rest of the wallet's tokens nor pay for tokens that the wallet lacks.
  if (!built.spendsAll || !isStrict) return null;
  const { permit, typedData, manner } = offer;
  const transferTo = leg.kind === "transfer" ? request.destination.recipient : null;
  const { gas, changes } = await deps.smartAccounts.simulatePermitted(
    { account, chainId, legId, permit, leg: { calls: built.calls, transferTo } },
    [...watched, { owner: account.address, token: source.token }],
  );
  // A token that takes a fee on the way would make the treasury pay the difference out of its own.
  const treasuryChange = changes[watched.length] ?? 0n;
  if (transferTo === null && treasuryChange !== 0n) return null;
  const cost = await gasCostOf(deps, context, { gas });
  const { projectId, kind } = context;
  // A wallet whose operation the sponsor does not pay for can still pay for its own transactions.
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
 * A leg for which a plain wallet signs a permit alone, with which the treasury takes its tokens: one of the token itself (EIP-2612),
 * else one for Permit2 where the wallet has allowed that to move the tokens before. Null where neither can be had.
 * @throws DomainError `chain_unavailable`
 */
export const prepareByPermit = async (deps: SimulationDeps, context: Context): Promise<LegSimulation | null> => {
  // A permit that cannot be simulated, or whose fee the sponsor does not pay, is no reason to refuse what transactions can do.
  for (const standard of [eip2612, permit2]) {
    const prepared = await prepareBy(standard, deps, context).catch(ignoreRefusal);
    if (prepared !== null) return prepared;
  }
  return null;
};
