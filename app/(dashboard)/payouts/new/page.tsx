import type { Metadata } from "next";
import type { ReactNode } from "react";
import { NewPayout } from "@/components/features/payouts/new/new-payout";

export const metadata: Metadata = { title: "New payout" };

const Page = (): ReactNode => <NewPayout />;

export default Page;
