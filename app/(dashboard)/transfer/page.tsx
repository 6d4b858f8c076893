import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { Transfer } from "@/components/features/transfer/transfer";
import { balancesQuery } from "@/components/features/balances/use-balances";
import { contactsQuery } from "@/components/features/contacts/use-contacts";
import { reservesQuery } from "@/components/features/reserves/use-reserves";
import { tokensQuery } from "@/components/features/swap/tokens";
import { walletsQuery } from "@/components/features/wallets/use-wallets";

export const metadata: Metadata = { title: "Transfer" };

const Page = (): ReactNode => (
  <Prefetched
    queries={[walletsQuery, tokensQuery, balancesQuery, reservesQuery, contactsQuery]}
  >
    <Transfer />
  </Prefetched>
);

export default Page;
