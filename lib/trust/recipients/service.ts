/** The only check of addresses that receive money, or that are stored in order to be paid. */
import { LRUCache } from "lru-cache";
import { isReserved, ownContracts } from "@/lib/chain/chain-contracts";
import type { ChainRegistry } from "@/lib/chain/registry";
import type { TokenFreezes } from "@/lib/chain/token-freezes";
import { withDeadline } from "@/lib/core/deadline";
import { DomainError, type ErrorDetail } from "@/lib/core/errors";
import { outageOf } from "@/lib/core/outage";
import type { Token } from "@/lib/core/token";
import type { SqlReader } from "@/lib/platform/db/sql";
import { reasonOf, type ScreeningService } from "@/lib/trust/screening/service";
import type { EvmAddress } from "@/lib/core/evm";
import { createChainCodes } from "./chain-codes";
import { readRecords } from "./repository";
import {
  warningsAbout,
  type ChainCodes,
  type Recipient,
  type RecipientFacts,
  type RecipientWarning,
} from "./rules";

export { WARNINGS_MAX, type Recipient, type RecipientWarning } from "./rules";

export interface RecipientRequest {
  readonly projectId: string;
  /** Chains on which the recipients are paid; empty for every chain. */
  readonly chainIds: readonly number[];
  readonly recipients: readonly Recipient[];
  /**
   * Addresses that the same request stores. Each recipient is compared with them as with proposed
   * contacts.
   */
  readonly drafts?: readonly EvmAddress[];
  /** Tokens whose issuers may have frozen the addresses; every token of the chains when absent. */
  readonly tokens?: readonly Token[];
  /**
   * `pay`: money moves to the recipients now, or at the times of a schedule. `pay_in_private`: like
   * `pay`, for a caller who may see private payments. `store`: the recipients are only stored.
   */
  readonly purpose: "pay" | "pay_in_private" | "store";
}

export interface RecipientsService {
  /**
   * Returns a function that explains why money may never go to an address: nobody holds its key,
   * or it is a contract from which the money could not come back or anybody could take it. The
   * text continues a sentence about the address. Null for any other address.
   * @param chainIds chains on which the address is paid; empty for every chain
   */
  refusals(chainIds: readonly number[]): (address: EvmAddress) => string | null;
  /**
   * Checks that every recipient may be paid on the chains.
   * @throws DomainError `invalid_request` naming the field of each address for which `refusals`
   * returns a reason
   */
  require(recipients: readonly Recipient[], chainIds: readonly number[]): void;
  /**
   * The warnings for people. Facts that a chain, a source or the database does not give in time are
   * left out, and the request continues.
   */
  warnings(request: RecipientRequest): Promise<RecipientWarning[]>;
  /**
   * All warnings that follow from the project's records. They are equal for equal records, and need
   * no chain or screening source.
   */
  warningsOfRecords(request: RecipientRequest): Promise<RecipientWarning[]>;
}

interface RecipientsDeps {
  readonly registry: ChainRegistry;
  readonly reader: SqlReader;
  readonly routing: { contracts(chainId: number): readonly EvmAddress[] };
  readonly freezes: Pick<TokenFreezes, "areFrozen">;
  readonly screening: Pick<ScreeningService, "screen">;
}

/** Maximum time that a response waits for chains and sources. */
const LATE = { timeoutMs: 700, message: "No answer in time." };

const unique = (recipients: readonly Recipient[]): EvmAddress[] => [
  ...new Set(recipients.map(({ address }) => address)),
];

/**
 * Ids of the chains on which an address is paid. A chain that is no longer configured is left out.
 */
const paidOn = (registry: ChainRegistry, chainIds: readonly number[]): number[] =>
  chainIds.length === 0
    ? registry.list().map(({ id }) => id)
    : chainIds.filter((chainId) => registry.find(chainId) !== null);

const createRefusals =
  ({ registry, routing }: RecipientsDeps): RecipientsService["refusals"] =>
  (chainIds) => {
    // Tokens of all chains are compared, because a token often has one address on several chains.
    const tokens = new Map<string, string>(
      registry.tokens().map(({ address, symbol }) => [address, symbol]),
    );
    const contracts = new Set(
      paidOn(registry, chainIds).flatMap((id) => [
        ...ownContracts(registry.get(id)),
        ...routing.contracts(id),
      ]),
    );
    return (address) => {
      if (isReserved(address))
        return "is the zero address or a neighbour of it, which nobody holds: the money would be lost";
      const symbol = tokens.get(address);
      if (symbol !== undefined)
        return `is the contract of the token ${symbol}: the money would be lost`;
      if (contracts.has(address))
        return "is a contract that money is moved through: it would be lost, or anybody could take it out";
      return null;
    };
  };

/**
 * A chain that did not answer in time is not queried again for this long, so that it does not delay
 * every request.
 */
const SILENT_MS = 30_000;

const createAsking = ({ registry, freezes, screening }: RecipientsDeps) => {
  const codesAt = createChainCodes(registry);
  const silent = new LRUCache<number, true>({ max: 1000, ttl: SILENT_MS });

  const codesOn = async (
    chainId: number,
    addresses: readonly EvmAddress[],
  ): Promise<ChainCodes["codes"] | null> => {
    if (silent.has(chainId)) return null;
    try {
      return await withDeadline(codesAt(chainId, addresses), LATE);
    } catch {
      silent.set(chainId, true);
      return null;
    }
  };

  const codesOf = async (request: RecipientRequest): Promise<ChainCodes[]> => {
    const paid = new Set(paidOn(registry, request.chainIds));
    const addresses = unique(request.recipients);
    const chains = await Promise.all(
      registry.list().map(async ({ id: chainId, name }): Promise<ChainCodes | null> => {
        const codes = await codesOn(chainId, addresses);
        return codes === null ? null : { chainId, name, isPaid: paid.has(chainId), codes };
      }),
    );
    return chains.filter((chain) => chain !== null);
  };

  const frozenOf = async (request: RecipientRequest): Promise<RecipientFacts["frozen"]> => {
    const chainIds = paidOn(registry, request.chainIds);
    const tokens = request.tokens ?? chainIds.flatMap((chainId) => registry.tokens(chainId));
    const holdings = unique(request.recipients).flatMap((address) =>
      tokens.map((token) => ({ token, address })),
    );
    const answers =
      holdings.length === 0
        ? []
        : await withDeadline(freezes.areFrozen(holdings), LATE).catch(() => []);
    const frozen = new Map<EvmAddress, string[]>();
    holdings.forEach(({ token, address }, index) => {
      const symbols = frozen.get(address) ?? [];
      if (answers[index] === true && !symbols.includes(token.symbol))
        frozen.set(address, [...symbols, token.symbol]);
    });
    return frozen;
  };

  const listedOf = async (request: RecipientRequest): Promise<RecipientFacts["listed"]> => {
    const chainIds = paidOn(registry, request.chainIds);
    // Each address is checked on each chain, because a source may know it on only one chain.
    const asked = unique(request.recipients).flatMap((address) =>
      chainIds.map((chainId) => ({ address, chainId })),
    );
    if (asked.length === 0) return new Map();
    const screened = await withDeadline(
      screening.screen(asked, { mode: "block_hits" }),
      LATE,
    ).catch(() => null);
    return new Map(
      (screened?.stopped ?? []).map(({ address, verdict }) => [address, reasonOf(verdict)]),
    );
  };

  return async (
    request: RecipientRequest,
  ): Promise<Pick<RecipientFacts, "chains" | "frozen" | "listed">> => {
    const [chains, frozen, listed] = await Promise.all([
      codesOf(request),
      frozenOf(request),
      listedOf(request),
    ]);
    return { chains, frozen, listed };
  };
};

const NOTHING_RECORDED: Pick<RecipientFacts, "known" | "own" | "unpaid"> = {
  known: [],
  own: new Set(),
  unpaid: new Set(),
};
const NOT_ASKED = { chains: [], frozen: new Map(), listed: new Map() } as const;

/** The recipient check. It pays nobody and stores nothing. */
export const createRecipientsService = (deps: RecipientsDeps): RecipientsService => {
  const refusals = createRefusals(deps);
  const ask = createAsking(deps);

  const recorded = async (
    request: RecipientRequest,
  ): Promise<Pick<RecipientFacts, "known" | "own" | "unpaid">> => {
    const { projectId, chainIds, purpose } = request;
    const addresses = unique(request.recipients);
    const [chainId = null] = chainIds;
    const { known, own, paid } = await readRecords(deps.reader, projectId, {
      addresses,
      chainId: chainIds.length === 1 ? chainId : null,
      seesPrivate: purpose === "pay_in_private",
    });
    const wallets = new Set(
      known.flatMap(({ address, as }) => (as === "own" ? [address] : [])),
    );
    const unpaid = addresses.filter((address) => !paid.has(address) && !wallets.has(address));
    return { known, own, unpaid: new Set(purpose === "store" ? [] : unpaid) };
  };

  /**
   * While the database is unavailable, the project's records are left out. Any other error is
   * thrown.
   */
  const recordedOrAway = (request: RecipientRequest): Promise<typeof NOTHING_RECORDED> =>
    recorded(request).catch((error: unknown) => {
      if (outageOf(error) !== "database") throw error;
      return NOTHING_RECORDED;
    });

  return {
    refusals,
    require: (recipients, chainIds) => {
      const refusalOf = refusals(chainIds);
      const details = recipients.flatMap(({ path, address }): ErrorDetail[] => {
        const message = refusalOf(address);
        return message === null ? [] : [{ path, message }];
      });
      const [first] = details;
      if (first === undefined) return;
      throw new DomainError(
        "invalid_request",
        `${first.path} ${first.message}. Nothing was done.`,
        { details },
      );
    },
    warnings: async (request) => {
      if (request.recipients.length === 0) return [];
      const [records, answers] = await Promise.all([recordedOrAway(request), ask(request)]);
      const { drafts = [] } = request;
      return warningsAbout(request.recipients, { ...records, ...answers, drafts });
    },
    warningsOfRecords: async (request) =>
      request.recipients.length === 0
        ? []
        : warningsAbout(
            request.recipients,
            { ...(await recorded(request)), ...NOT_ASKED, drafts: request.drafts ?? [] },
            Infinity,
          ),
  };
};
