import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { TRANSFER_QUERIES } from "@/app/_data/queries";
import { Transfer } from "@/components/features/transfer/transfer";

export const metadata: Metadata = { title: "Transfer" };

const Page = (): ReactNode => (
  <Prefetched queries={TRANSFER_QUERIES}>
    <Transfer />
  </Prefetched>
);

export default Page;
