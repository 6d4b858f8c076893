import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { PRIVATE_QUERIES } from "@/app/_data/queries";
import { PrivatePage } from "@/components/features/private/private-page";

export const metadata: Metadata = { title: "Private" };

const Page = (): ReactNode => (
  <Prefetched queries={PRIVATE_QUERIES}>
    <PrivatePage />
  </Prefetched>
);

export default Page;
