import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Transfer } from "@/components/features/transfer/transfer";

export const metadata: Metadata = { title: "Transfer" };

const Page = (): ReactNode => <Transfer />;

export default Page;
