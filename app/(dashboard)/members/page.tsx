import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { MEMBERS_QUERIES } from "@/app/_data/queries";
import { Members } from "@/components/features/members/members";

export const metadata: Metadata = { title: "Members" };

const Page = (): ReactNode => (
  <Prefetched queries={MEMBERS_QUERIES}>
    <Members />
  </Prefetched>
);

export default Page;
