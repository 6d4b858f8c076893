import type { Database } from "@/lib/db/client";
import { quoted } from "@/lib/modules/approvals/service";
import type { Wallet, WalletsService } from "@/lib/modules/wallets/service";
import type { EvmAddress } from "@/lib/ports/routing";
import { namesOfContacts } from "./repository";

/** The names that a project gave to addresses: those of its wallets first, then those of its contacts. */
export interface AddressNames {
  /** Names by address, in quotation marks where people have typed them. Addresses without a name are left out. */
  of(projectId: string, addresses: readonly EvmAddress[]): Promise<ReadonlyMap<EvmAddress, string>>;
}

const KIND_WORDS = {
  treasury: "Treasury",
  smart_account: "Smart account",
  linked: "Linked wallet",
} as const satisfies Record<Wallet["kind"], string>;

const walletName = ({ label, kind }: Wallet): string => (label === null ? KIND_WORDS[kind] : quoted(label));

export const createAddressNames = (deps: {
  readonly database: Database;
  readonly wallets: Pick<WalletsService, "find">;
}): AddressNames => ({
  of: async (projectId, addresses) => {
    const unique = [...new Set(addresses)];
    const [contacts, wallets] = await Promise.all([
      namesOfContacts(deps.database.prisma, projectId, unique),
      Promise.all(unique.map((address) => deps.wallets.find(projectId, address))),
    ]);
    const names = new Map(
      unique.flatMap((address) => {
        const contact = contacts.get(address);
        return contact === undefined ? [] : [[address, quoted(contact)] as const];
      }),
    );
    for (const wallet of wallets) if (wallet !== null) names.set(wallet.address, walletName(wallet));
    return names;
  },
});
