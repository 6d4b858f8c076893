import type { Metadata } from "next";
import type { ReactNode } from "react";
import { NewPayout } from "@/components/features/payouts/new-payout";

export const metadata: Metadata = { title: "Pay accounts" };

const Page = (): ReactNode => <NewPayout />;

export default Page;
