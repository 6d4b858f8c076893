import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { BALANCES_QUERIES } from "@/app/_data/queries";
import { BalancesPage } from "@/components/features/balances/balances-page";

export const metadata: Metadata = { title: "Balances" };

const Page = (): ReactNode => (
  <Prefetched queries={BALANCES_QUERIES}>
    <BalancesPage />
  </Prefetched>
);

export default Page;
