import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { WALLETS_QUERIES } from "@/app/_data/queries";
import { Wallets } from "@/components/features/wallets/wallets";

export const metadata: Metadata = { title: "Wallets" };

const Page = (): ReactNode => (
  <Prefetched queries={WALLETS_QUERIES}>
    <Wallets />
  </Prefetched>
);

export default Page;
