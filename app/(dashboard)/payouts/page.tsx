import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Payouts } from "@/components/features/payouts/payouts";

export const metadata: Metadata = { title: "Payouts" };

const Page = (): ReactNode => <Payouts />;

export default Page;
