import { deadlineOf, when } from '../units';

/** A moment of the past; what it leaves out, as the time zone, is in its title. */
export const Moment = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={deadlineOf(at)}>
    {when(at)}
  </time>
);
