import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Notice, Skeleton } from './parts/notice';

/** A part of the page in a separate file, loaded when it is first shown. */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  /** In its place until it is there. */
  waiting: preact.JSX.Element | null = <Skeleton rows={6} />,
): (props: P) => preact.JSX.Element | null {
  let known: ComponentType<P> | null = null;
  return (props) => {
    const [, setLoaded] = useState(known !== null);
    const [isFailed, setFailed] = useState(false);
    useEffect(() => {
      if (known) return;
      load().then(
        (part) => {
          known = part;
          setLoaded(true);
        },
        () => setFailed(true),
      );
    }, []);
    if (isFailed) return <Notice title="This part could not be loaded">Reload the page.</Notice>;
    const Part = known;
    return Part ? <Part {...props} /> : waiting;
  };
}
