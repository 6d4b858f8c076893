/** Warnings about recipients that may be mistakes, such as look-alike addresses. They do not stop the payout. */
import { contractsAmong } from "@/lib/chains/contract-probe";
import type { ChainRegistry } from "@/lib/chains/registry";
import type { Actor } from "@/lib/core/actor";
import { createLookAlikes, type KnownAddress } from "@/lib/core/look-alike";
import { withDeadline } from "@/lib/core/deadline";
import type { ContactsService } from "@/lib/modules/contacts/service";
import type { OperationsService } from "@/lib/modules/operations/service";
import type { WalletsService } from "@/lib/modules/wallets/service";
import type { EvmAddress } from "@/lib/ports/routing";
import type { WalletPayoutsReader } from "./read-repository";
import type { PayoutRequest } from "./request";
import { WARNINGS_MAX, type PayoutWarning } from "./wallet-payout";

export interface WarningDeps {
  readonly registry: ChainRegistry;
  readonly contacts: Pick<ContactsService, "list">;
  readonly wallets: Pick<WalletsService, "list">;
  readonly operations: Pick<OperationsService, "recentRecipients">;
  readonly rows: Pick<WalletPayoutsReader, "recipients">;
}

const OPERATIONS_MAX = 2000;
const ROWS_MAX = 20_000;
/** Milliseconds for which the response waits for warnings. Later warnings are omitted. */
const CHAINS_TIMEOUT_MS = 700;
const LATE = { timeoutMs: CHAINS_TIMEOUT_MS, message: "The chain did not answer in time." };

const known = (as: KnownAddress["as"], name: string, addresses: readonly string[]): KnownAddress[] =>
  addresses.map((address) => ({ address, name, as }));

const knownAddresses = async (deps: WarningDeps, actor: Actor): Promise<readonly KnownAddress[]> => {
  const { projectId } = actor;
  const [wallets, contacts, paid, rows] = await Promise.all([
    deps.wallets.list(projectId),
    deps.contacts.list(actor),
    deps.operations.recentRecipients(projectId, OPERATIONS_MAX),
    deps.rows.recipients(projectId, ROWS_MAX),
  ]);
  return [
    ...wallets.map(({ address, label }): KnownAddress => ({
      address,
      name: label ?? "a wallet of the project",
      as: "own",
    })),
    ...contacts.map(({ address, name }): KnownAddress => ({ address, name, as: "contact" })),
    ...known("earlier", "paid before", [...new Set([...paid, ...rows])]),
  ];
};

/** The contract codes on the chains that answer in time. */
const codesOf = async (
  registry: ChainRegistry,
  addresses: readonly EvmAddress[],
): Promise<ReadonlyMap<number, readonly boolean[]>> => {
  const answers = await Promise.all(
    registry.list().map(async ({ id }) => {
      const asked = contractsAmong(registry.client(id), addresses);
      return [id, await withDeadline(asked, LATE).catch(() => null)] as const;
    }),
  );
  return new Map(answers.flatMap(([id, answer]) => (answer === null ? [] : [[id, answer] as const])));
};

/** Recipients that are contracts on another chain and not on this one, where another party, or nobody, may control the address. */
const elsewhere = async (
  registry: ChainRegistry,
  chainId: number,
  addresses: readonly EvmAddress[],
): Promise<ReadonlyMap<EvmAddress, string>> => {
  const codes = await codesOf(registry, addresses);
  const here = codes.get(chainId);
  if (here === undefined) return new Map();
  const others = registry.list().filter(({ id }) => id !== chainId && codes.has(id));
  return new Map(
    addresses.flatMap((address, index) => {
      if (here[index] === true) return [];
      const there = others.find(({ id }) => codes.get(id)?.[index] === true);
      return there === undefined ? [] : [[address, there.name] as const];
    }),
  );
};

/** Warnings about the recipients, at most 100, in the order of the rows. Never throws. */
export const warningsFor = async (
  deps: WarningDeps,
  actor: Actor,
  { chainId, rows }: Pick<PayoutRequest, "chainId" | "rows">,
): Promise<PayoutWarning[]> => {
  const { registry } = deps;
  const recipients = [...new Set(rows.map(({ recipient }) => recipient))];
  const [addresses, contracts] = await Promise.all([
    knownAddresses(deps, actor),
    elsewhere(registry, chainId, recipients),
  ]);
  const lookAlikeOf = createLookAlikes(addresses);
  const own = new Set(addresses.flatMap(({ address, as }) => (as === "own" ? [address] : [])));
  const { name } = registry.get(chainId);
  const warnings: PayoutWarning[] = [];
  for (const [index, { recipient }] of rows.entries()) {
    if (warnings.length >= WARNINGS_MAX) break;
    const similar = lookAlikeOf(recipient);
    if (similar !== null) {
      const message = `${recipient} begins and ends like ${similar.address} (${similar.name}), and is another address. Such addresses are made to be copied by mistake.`;
      warnings.push({ code: "lookalike_recipient", index, message });
    }
    const there = own.has(recipient) ? undefined : contracts.get(recipient);
    if (there !== undefined) {
      const message = `${recipient} is a contract on ${there} and not on ${name}: whoever holds it there may not be able to use it here.`;
      warnings.push({ code: "code_elsewhere", index, message });
    }
  }
  return warnings.slice(0, WARNINGS_MAX);
};
